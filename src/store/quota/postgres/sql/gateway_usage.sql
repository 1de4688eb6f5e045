-- Caller: QuotaStore::usage. Index: gateway_usage_pkey. Locks: none.
SELECT g.minute_us, g.sent, g.limited, g.failed FROM penstock.gateway_usage g
 WHERE g.user_id = $1::integer AND g.minute_us >= $2::bigint AND g.minute_us < $3::bigint
 ORDER BY g.minute_us
 LIMIT $4::bigint
