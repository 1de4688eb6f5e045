-- Caller: PolicyStore::history. Index: PRIMARY of throttle_policy. Locks: none.
SELECT p.policy_id, p.version, p.changed_us, p.deleted, p.document
  FROM throttle_policy p
 WHERE p.policy_key = ?
 ORDER BY p.version DESC
 LIMIT ?
