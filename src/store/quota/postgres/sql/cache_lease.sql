-- Caller: QuotaLedger::lease. Index and locks: see the function.
-- $7 null = database clock.
SELECT * FROM penstock.gateway_lease_quotas($1::bigint, $2::integer[], $3::bigint[], $4::bigint[], $5::bigint,
                                            $6::bigint, $7::bigint)
