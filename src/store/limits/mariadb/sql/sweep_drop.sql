-- Caller: LimitSweep::sweep, with the keys that sweep_look found idle. Index: PRIMARY of
-- throttle_usage. Locks: the rows, in ascending order of their keys; a key that came back to life
-- meanwhile is left alone. Parameters: keys, time (null = database clock).
DELETE FROM throttle_usage
 WHERE throttle_key IN (?)
   AND idle_at_us <= COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))
 ORDER BY throttle_key
