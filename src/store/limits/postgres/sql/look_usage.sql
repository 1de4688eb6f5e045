-- Caller: LimitStore::apply for batches that only look, LimitStore::find. Index: throttle_usage_pkey.
-- Locks: none.
SELECT u.key, u.record
  FROM penstock.throttle_usage u
 WHERE u.key = ANY ($1::bytea[])
 ORDER BY u.key
