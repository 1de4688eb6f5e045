-- Caller: PolicyStore::create, update, remove, behind begin. Index: throttle_policy_revision_pkey.
-- Locks: the one row that every change of a policy locks first.
UPDATE penstock.throttle_policy_revision r SET revision = r.revision + 1 WHERE r.one
RETURNING r.revision
