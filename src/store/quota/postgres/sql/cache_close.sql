-- Caller: QuotaLedger::close. Index and locks: see the function (migrations/0022_gateway_cache.sql).
SELECT * FROM penstock.gateway_cache_close($1::bigint, $2::text)
