-- Caller: LeaseStore::acquire. Index and locks: see the function.
-- $5 null = database clock.
SELECT * FROM penstock.acquire_lease($1::text, $2::text, $3::bigint, $4::bigint, $5::bigint)
