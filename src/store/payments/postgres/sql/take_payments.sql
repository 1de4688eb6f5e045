-- Caller: PaymentStore::take. Index and locks: see the function.
-- $9 null = database clock.
SELECT * FROM penstock.take_payments($1::text[], $2::integer[], $3::bigint[], $4::bytea[],
                                     $5::bytea[], $6::bytea[], $7::bytea[], $8::boolean,
                                     $9::bigint)
