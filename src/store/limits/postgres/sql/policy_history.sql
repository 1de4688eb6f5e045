-- Caller: PolicyStore::history. Index: throttle_policy_pkey. Locks: none.
SELECT p.policy_id, p.version, p.key, p.type, p.capacity, p.refill_tokens, p.refill_micros, p.refill_text,
       p.window_seconds, p.shadow, p.on_store_failure, p.changed_us, p.deleted
  FROM penstock.throttle_policy p
 WHERE p.key = $1::text
 ORDER BY p.version DESC
 LIMIT $2::bigint
