-- Caller: PaymentStore::advance. Index and locks: see the function. $4 null = database clock.
SELECT * FROM penstock.advance_payments($1::text[], $2::integer[], $3::bytea[], $4::bigint)
