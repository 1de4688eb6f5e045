-- Caller: LimitStore::list. Index: PRIMARY of throttle_usage. Locks: none. Parameters: time (null =
-- database clock), key to go on after, the time again, most rows.
SELECT u.throttle_key, u.record, COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))
  FROM throttle_usage u
 WHERE u.throttle_key > ?
   AND LENGTH(u.record) > 0
   AND u.idle_at_us > COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))
 ORDER BY u.throttle_key
 LIMIT ?
