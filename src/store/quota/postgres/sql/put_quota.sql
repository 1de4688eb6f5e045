-- Caller: QuotaStore::put. Index: gateway_quota_pkey, gateway_lease_pkey. Locks: the row, then what the cache
-- has of it: `gone` reads `put` to keep that order. $4 null = database clock. Answers when the new window
-- began.
WITH put AS (
  INSERT INTO penstock.gateway_quota AS q (user_id, rate_limit, window_min, used, refreshed_us)
  VALUES ($1::integer, $2::bigint, $3::bigint, 0, coalesce($4::bigint, penstock.epoch_us()))
      ON CONFLICT (user_id) DO UPDATE
     SET rate_limit = excluded.rate_limit, window_min = excluded.window_min, used = 0,
         refreshed_us = excluded.refreshed_us
  RETURNING q.user_id, q.refreshed_us),
gone AS (
  DELETE FROM penstock.gateway_lease l WHERE l.user_id = (SELECT p.user_id FROM put p))
SELECT p.refreshed_us FROM put p
