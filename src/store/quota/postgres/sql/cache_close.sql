-- Caller: QuotaLedger::close. Index and locks: see the function.
SELECT * FROM penstock.gateway_cache_close($1::bigint, $2::text)
