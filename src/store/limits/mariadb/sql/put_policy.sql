-- Caller: PolicyStore::create, update, remove, behind age_policy. Index: PRIMARY of throttle_policy.
-- Locks: the new row.
INSERT INTO throttle_policy (policy_key, policy_id, version, changed_us, deleted, newest, document)
VALUES (?, ?, ?, ?, ?, 1, ?)
