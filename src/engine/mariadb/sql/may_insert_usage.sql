-- Caller: inspect. Index: none. Locks: none: what is explained is not done, and refused to who may not.
EXPLAIN INSERT INTO throttle_usage (throttle_key, idle_at_us, record) VALUES ('', 0, '')
