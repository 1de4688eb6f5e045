-- Caller: QuotaLedger::return_lease. Index and locks: see the function.
SELECT penstock.gateway_return_lease($1::bigint, $2::integer, $3::bigint, $4::bigint)
