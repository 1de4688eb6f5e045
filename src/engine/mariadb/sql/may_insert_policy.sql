-- Caller: inspect. Index: none. Locks: none: what is explained is not done, and refused to who may not.
EXPLAIN INSERT INTO throttle_policy (policy_key, version, policy_id) VALUES ('', 0, 0)
