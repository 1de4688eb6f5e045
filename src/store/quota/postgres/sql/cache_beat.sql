-- Caller: QuotaLedger::beat. Index and locks: see the function.
SELECT * FROM penstock.gateway_cache_beat($1::text, $2::boolean, $3::bigint)
