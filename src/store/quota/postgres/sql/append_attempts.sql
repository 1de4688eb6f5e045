-- Caller: AttemptStore::append. Index: gateway_attempt_pkey. Locks: the new rows. One that is there stays as it is.
INSERT INTO penstock.gateway_attempt (at_us, number, user_id, outcome, message_id, message)
SELECT n.at_us, n.number, n.user_id, n.outcome, n.message_id, n.message
  FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::integer[], $5::text[], $6::bytea[])
       AS n(at_us, number, user_id, outcome, message_id, message)
    ON CONFLICT (at_us, number) DO NOTHING
