-- Caller: SendKeys::claim. Index and locks: see the function.
-- $7 null = database clock.
SELECT * FROM penstock.gateway_claim_keys($1::integer[], $2::text[], $3::bytea[], $4::text[], $5::bigint,
                                          $6::bigint, $7::bigint)
