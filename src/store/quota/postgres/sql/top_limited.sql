-- Caller: QuotaStore::top_limited. Index: gateway_usage_order. Locks: none.
SELECT g.user_id, sum(g.limited)::bigint AS limited FROM penstock.gateway_usage g
 WHERE g.minute_us >= $1::bigint AND g.minute_us < $2::bigint AND g.limited > 0
 GROUP BY g.user_id
 ORDER BY limited DESC, g.user_id
 LIMIT $3::bigint
