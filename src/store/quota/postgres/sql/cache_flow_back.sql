-- Caller: QuotaLedger::flow_back. Index: gateway_lease_pkey. Locks: the leases, ascending. $1 the epoch, of each
-- user, once: its window, the count, the number of the change that made it, and how long ago it was read.
WITH seen AS (
  SELECT * FROM unnest($2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
         AS n(user_id, refreshed_us, count, version, age_us)),
held AS MATERIALIZED (
  SELECT l.user_id FROM penstock.gateway_lease l
   WHERE l.user_id = ANY ($2::integer[]) AND l.epoch = $1::bigint ORDER BY l.user_id FOR UPDATE)
UPDATE penstock.gateway_lease l
   SET count = s.count, version = s.version,
       checked_us = greatest(l.checked_us, penstock.epoch_us() - s.age_us)
  FROM held h JOIN seen s ON s.user_id = h.user_id
 WHERE l.user_id = h.user_id AND l.epoch = $1::bigint AND l.refreshed_us = s.refreshed_us
   AND l.version < s.version
