-- Caller: LimitStore::apply. Index: throttle_usage_pkey. Locks: none new, lock_usage has them.
UPDATE penstock.throttle_usage u
   SET record = c.record, idle_at_us = c.idle_at_us
  FROM unnest($1::bytea[], $2::bytea[], $3::bigint[]) AS c (key, record, idle_at_us)
 WHERE u.key = c.key
