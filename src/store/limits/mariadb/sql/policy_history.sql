-- Caller: PolicyStore::history. Index: PRIMARY of throttle_policy. Locks: none.
SELECT p.policy_id, p.version, p.policy_key, p.type, p.capacity, p.refill_tokens, p.refill_micros,
       p.refill_text, p.window_seconds, p.shadow, p.on_store_failure, p.changed_us, p.deleted
  FROM throttle_policy p
 WHERE p.policy_key = ?
 ORDER BY p.version DESC
 LIMIT ?
