-- Caller: LimitStore::reset, behind lock_usage. Index: PRIMARY of throttle_usage. Locks: the row, which
-- stays and is swept later: whoever is about to lock it finds it.
UPDATE throttle_usage
   SET record = '', idle_at_us = CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) + 60000000
 WHERE throttle_key = ?
