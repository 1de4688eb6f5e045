-- Caller: QuotaStore::forget. Index: gateway_claim_claimed, gateway_claim_pkey. Locks: the rows that go, those
-- that nobody else holds.
WITH old AS (
  SELECT c.user_id, c.key FROM penstock.gateway_claim c
   WHERE c.claimed_us < $1::bigint ORDER BY c.claimed_us LIMIT $2::bigint FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM penstock.gateway_claim c USING old
   WHERE c.user_id = old.user_id AND c.key = old.key RETURNING 1)
SELECT count(*) FROM gone
