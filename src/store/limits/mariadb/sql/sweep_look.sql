-- Caller: LimitSweep::sweep. Index: PRIMARY of throttle_usage. Locks: none. Parameters: time (null =
-- database clock), key to go on after, most rows. Says of each key whether it is idle.
SELECT u.throttle_key, u.idle_at_us <= COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))
  FROM throttle_usage u
 WHERE u.throttle_key > ?
 ORDER BY u.throttle_key
 LIMIT ?
