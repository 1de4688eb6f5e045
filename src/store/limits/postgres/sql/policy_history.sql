-- Caller: PolicyStore::history. Index: throttle_policy_pkey. Locks: none.
SELECT p.policy_id, p.version, p.changed_us, p.deleted, p.document
  FROM penstock.throttle_policy p
 WHERE p.key = $1::text
 ORDER BY p.version DESC
 LIMIT $2::bigint
