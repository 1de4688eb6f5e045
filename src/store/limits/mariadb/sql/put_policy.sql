-- Caller: PolicyStore::create, update, remove, behind age_policy. Index: PRIMARY of throttle_policy.
-- Locks: the new row.
INSERT INTO throttle_policy
  (policy_id, version, policy_key, type, capacity, refill_tokens, refill_micros, refill_text,
   window_seconds, shadow, on_store_failure, changed_us, deleted, newest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
