-- Caller: PolicyStore::revision, and the changes behind lock_policies. Index: PRIMARY of
-- throttle_policy_revision. Locks: none.
SELECT r.revision FROM throttle_policy_revision r WHERE r.one = 1
