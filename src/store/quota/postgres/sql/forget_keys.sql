-- Caller: QuotaStore::forget. Index: gateway_key_taken, gateway_key_pkey. Locks: the rows that go, those
-- that nobody else holds. A key that was taken again meanwhile has another time, and stays.
WITH old AS (
  SELECT k.user_id, k.key FROM penstock.gateway_key k
   WHERE k.taken_us < $1::bigint ORDER BY k.taken_us LIMIT $2::bigint FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM penstock.gateway_key k USING old
   WHERE k.user_id = old.user_id AND k.key = old.key RETURNING 1)
SELECT count(*) FROM gone
