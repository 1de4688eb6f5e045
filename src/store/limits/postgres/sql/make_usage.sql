-- Caller: LimitStore::apply, a transaction of its own before the rows are locked. Index:
-- throttle_usage_pkey. Locks: the new rows, in ascending order of their keys ($1 is sorted): two
-- inserters of the same keys never wait for each other in a circle. The rows are idle, and may be swept
-- away, a minute from now: long after they were locked. $2 null = database clock.
INSERT INTO penstock.throttle_usage (key, record, idle_at_us)
SELECT k.key, ''::bytea, coalesce($2::bigint, penstock.epoch_us()) + 60000000
  FROM unnest($1::bytea[]) WITH ORDINALITY AS k (key, place)
 ORDER BY k.place
    ON CONFLICT (key) DO NOTHING
