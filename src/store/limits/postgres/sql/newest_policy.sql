-- Caller: PolicyStore::find, create, update, remove. Index: throttle_policy_newest. Locks: none.
SELECT p.policy_id, p.version, p.changed_us, p.deleted, p.document
  FROM penstock.throttle_policy p
 WHERE p.newest AND p.key = $1::text
