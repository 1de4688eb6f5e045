-- Caller: PaymentStore::forget. Index and locks: see the function.
SELECT * FROM penstock.forget_payments($1::bigint, $2::bigint, $3::text, $4::bigint)
