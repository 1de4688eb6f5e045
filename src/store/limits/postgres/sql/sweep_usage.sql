-- Caller: LimitSweep::sweep. Index: throttle_usage_pkey. Locks: idle rows that nobody holds, it waits
-- for none. $3 null = database clock. Answers how many rows it looked at, how many it dropped, and
-- the last key it looked at.
WITH seen AS MATERIALIZED (
  SELECT t.key FROM penstock.throttle_usage t
   WHERE t.key > $1::bytea ORDER BY t.key LIMIT $2::bigint),
time AS MATERIALIZED (SELECT coalesce($3::bigint, penstock.epoch_us()) AS now_us),
idle AS MATERIALIZED (
  SELECT t.key FROM penstock.throttle_usage t
   WHERE t.key = ANY (ARRAY (SELECT s.key FROM seen s))
     AND t.idle_at_us <= (SELECT now_us FROM time)
     FOR UPDATE SKIP LOCKED),
dropped AS (
  DELETE FROM penstock.throttle_usage t
   WHERE t.key = ANY (ARRAY (SELECT i.key FROM idle i))
  RETURNING 1)
SELECT (SELECT count(*) FROM seen), (SELECT count(*) FROM dropped),
       coalesce((SELECT s.key FROM seen s ORDER BY s.key DESC LIMIT 1), ''::bytea)
