-- Caller: LimitStore::apply. Index: PRIMARY of throttle_usage. Locks: none new, lock_usage has them.
INSERT INTO throttle_usage (throttle_key, record, idle_at_us) VALUES (?, ?, ?)
    ON DUPLICATE KEY UPDATE record = VALUES(record), idle_at_us = VALUES(idle_at_us)
