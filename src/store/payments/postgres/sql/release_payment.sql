-- Caller: PaymentStore::release. Index and locks: see the function. $5 null = database clock.
SELECT penstock.release_payment($1::text, $2::bigint, $3::bytea, $4::bytea, $5::bigint, $6::bytea)
