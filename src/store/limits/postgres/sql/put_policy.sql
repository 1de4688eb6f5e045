-- Caller: PolicyStore::create, update, remove, behind age_policy. Index: throttle_policy_pkey,
-- throttle_policy_newest. Locks: the new row.
INSERT INTO penstock.throttle_policy (key, policy_id, version, changed_us, deleted, newest, document)
VALUES ($1::text, $2::bigint, $3::bigint, $4::bigint, $5::boolean, true, $6::json)
