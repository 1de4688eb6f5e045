-- Caller: QuotaGate::charge. Index and locks: see the function (migrations/0021_gateway_bus.sql). $3 null =
-- database clock.
SELECT * FROM penstock.gateway_charge($1::integer[], $2::bigint[], $3::bigint)
