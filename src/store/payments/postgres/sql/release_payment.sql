-- Caller: PaymentStore::release. Index and locks: see the function
-- (migrations/0028_payment_release_detail.sql). $5 null = database clock.
SELECT penstock.release_payment($1::text, $2::bigint, $3::bytea, $4::bytea, $5::bigint, $6::bytea)
