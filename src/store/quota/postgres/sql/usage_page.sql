-- Caller: UsageExport::page. Index: gateway_usage_order. Locks: none.
SELECT g.minute_us, g.user_id, g.sent, g.limited, g.failed FROM penstock.gateway_usage g
 WHERE (g.minute_us, g.user_id) > ($1::bigint, $2::integer) AND g.minute_us < $3::bigint
 ORDER BY g.minute_us, g.user_id
 LIMIT $4::bigint
