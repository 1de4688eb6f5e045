-- Caller: QuotaGate::give_back. Index: gateway_quota_pkey. Locks: the quotas of the users, ascending. A
-- charge whose window has gone since is not given back.
WITH held AS MATERIALIZED (
  SELECT q.user_id FROM penstock.gateway_quota q
   WHERE q.user_id = ANY ($1::integer[]) ORDER BY q.user_id FOR UPDATE),
back AS (
  SELECT n.user_id, n.window_us, sum(n.cost)::bigint AS cost
    FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) AS n(user_id, cost, window_us)
   GROUP BY n.user_id, n.window_us)
UPDATE penstock.gateway_quota q SET used = greatest(q.used - back.cost, 0)
  FROM held JOIN back ON back.user_id = held.user_id
 WHERE q.user_id = held.user_id AND q.refreshed_us = back.window_us
