-- Caller: QuotaStore::forget. Index: gateway_usage_order, gateway_usage_pkey. Locks: the rows that go, those
-- that nobody else holds.
WITH old AS (
  SELECT g.user_id, g.minute_us FROM penstock.gateway_usage g
   WHERE g.minute_us < $1::bigint ORDER BY g.minute_us LIMIT $2::bigint FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM penstock.gateway_usage g USING old
   WHERE g.user_id = old.user_id AND g.minute_us = old.minute_us RETURNING 1)
SELECT count(*) FROM gone
