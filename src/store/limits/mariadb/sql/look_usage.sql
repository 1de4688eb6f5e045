-- Caller: LimitStore::apply for batches that only look, LimitStore::find. Index: PRIMARY of
-- throttle_usage. Locks: none.
SELECT u.throttle_key, u.record
  FROM throttle_usage u FORCE INDEX (PRIMARY)
 WHERE u.throttle_key IN (?)
 ORDER BY u.throttle_key
