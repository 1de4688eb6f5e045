-- Caller: PolicyStore::list. Index: throttle_policy_newest. Locks: none.
SELECT p.policy_id, p.version, p.changed_us, p.deleted, p.document
  FROM throttle_policy p
 WHERE p.newest = 1 AND NOT p.deleted AND p.policy_key > ?
 ORDER BY p.policy_key
 LIMIT ?
