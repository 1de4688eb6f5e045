-- Caller: PolicyStore::create, update, remove, behind age_policy. Index: throttle_policy_pkey,
-- throttle_policy_newest. Locks: the new row.
INSERT INTO penstock.throttle_policy
  (policy_id, version, key, type, capacity, refill_tokens, refill_micros, refill_text,
   window_seconds, shadow, on_store_failure, changed_us, deleted, newest)
VALUES ($1::bigint, $2::bigint, $3::text, $4::text, $5::bigint, $6::bigint, $7::bigint, $8::text,
        $9::bigint, $10::boolean, $11::text, $12::bigint, $13::boolean, true)
