-- Caller: AttemptStore::page. Index: gateway_attempt_pkey. Locks: none.
SELECT a.at_us, a.number, a.user_id, a.outcome, a.message_id, a.message FROM penstock.gateway_attempt a
 WHERE (a.at_us, a.number) > ($1::bigint, $2::bigint) AND a.at_us < $3::bigint
 ORDER BY a.at_us, a.number
 LIMIT $4::bigint
