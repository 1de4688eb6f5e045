-- Caller: PolicyStore::create, update, remove, behind begin. Index: PRIMARY of
-- throttle_policy_revision. Locks: the one row that every change of a policy locks first.
UPDATE throttle_policy_revision SET revision = revision + 1 WHERE one = 1
