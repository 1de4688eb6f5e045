-- Caller: QuotaStore::send. Index and locks: see the function.
-- $8 null = database clock.
SELECT * FROM penstock.gateway_send($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::bytea[],
                                    $6::bytea[], $7::bigint, $8::bigint)
