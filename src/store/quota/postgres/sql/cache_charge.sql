-- Caller: QuotaLedger::charge. Index and locks: see the function.
-- $3 null = database clock.
SELECT * FROM penstock.gateway_charge_past_cache($1::integer[], $2::bigint[], $3::bigint)
