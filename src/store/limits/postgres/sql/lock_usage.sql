-- Caller: LimitStore::apply, behind begin. Index: throttle_usage_pkey. Locks: the rows it returns, in
-- ascending order of their keys, until the end of the transaction.
SELECT u.key, u.record
  FROM penstock.throttle_usage u
 WHERE u.key = ANY ($1::bytea[])
 ORDER BY u.key
   FOR NO KEY UPDATE
