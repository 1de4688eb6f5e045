-- Caller: PolicyStore::revision. Index: throttle_policy_revision_pkey. Locks: none.
SELECT r.revision FROM penstock.throttle_policy_revision r WHERE r.one
