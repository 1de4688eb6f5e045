-- Caller: LimitStore::apply, reset, behind begin. Index: PRIMARY of throttle_usage. Locks: the rows it
-- returns, in ascending order of their keys, until the end of the transaction.
SELECT u.throttle_key, u.record
  FROM throttle_usage u FORCE INDEX (PRIMARY)
 WHERE u.throttle_key IN (?)
 ORDER BY u.throttle_key
   FOR UPDATE
