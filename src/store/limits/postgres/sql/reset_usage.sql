-- Caller: LimitStore::reset. Index: throttle_usage_pkey. Locks: the row, which stays and is swept later:
-- whoever is about to lock it finds it.
UPDATE penstock.throttle_usage u
   SET record = ''::bytea, idle_at_us = penstock.epoch_us() + 60000000
 WHERE u.key = $1::bytea AND octet_length(u.record) > 0
RETURNING true
