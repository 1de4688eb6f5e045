-- Caller: DeliveryStore::forget_parts. Index: sms_part_written, sms_part_pkey. Locks: the rows that go, those
-- that nobody else holds.
WITH old AS (
  SELECT p.provider, p.reference FROM penstock.sms_part p
   WHERE p.written_us < $1::bigint ORDER BY p.written_us LIMIT $2::bigint FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM penstock.sms_part p USING old
   WHERE p.provider = old.provider AND p.reference = old.reference RETURNING 1)
SELECT count(*) FROM gone
