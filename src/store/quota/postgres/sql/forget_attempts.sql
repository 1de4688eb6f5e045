-- Caller: AttemptStore::forget_attempts. Index: gateway_attempt_pkey. Locks: the rows that go, those that nobody
-- else holds.
WITH old AS (
  SELECT a.at_us, a.number FROM penstock.gateway_attempt a
   WHERE a.at_us < $1::bigint ORDER BY a.at_us, a.number LIMIT $2::bigint FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM penstock.gateway_attempt a USING old
   WHERE a.at_us = old.at_us AND a.number = old.number RETURNING 1)
SELECT count(*) FROM gone
