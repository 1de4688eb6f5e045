-- Caller: PolicyStore::create, update, remove, before put_policy. Index: throttle_policy_newest.
-- Locks: the row.
UPDATE penstock.throttle_policy p SET newest = false WHERE p.newest AND p.key = $1::text
