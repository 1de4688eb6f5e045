-- Caller: PolicyStore::create, update, remove, before put_policy. Index: throttle_policy_newest.
-- Locks: the row.
UPDATE throttle_policy SET newest = 0 WHERE newest = 1 AND policy_key = ?
