-- Caller: PolicyStore::find, create, update, remove. Index: throttle_policy_newest. Locks: none.
SELECT p.policy_id, p.version, p.changed_us, p.deleted, p.document
  FROM throttle_policy p
 WHERE p.newest = 1 AND p.policy_key = ?
