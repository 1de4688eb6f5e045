-- Caller: PolicyStore::list. Index: throttle_policy_newest. Locks: none.
SELECT p.policy_id, p.version, p.changed_us, p.deleted, p.document
  FROM penstock.throttle_policy p
 WHERE p.newest AND NOT p.deleted AND p.key > $1::text
 ORDER BY p.key
 LIMIT $2::bigint
