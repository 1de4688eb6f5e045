-- Caller: QuotaLedger::open. Index and locks: see the function.
SELECT * FROM penstock.gateway_cache_open($1::bigint, $2::text, $3::text, $4::bigint)
