-- Caller: QueueStore::settle. Index and locks: see the function.
-- $11 null = database clock.
SELECT penstock.settle_items($1::text, $2::bigint, $3::integer, $4::text[], $5::bytea[], $6::bigint,
                             $7::bigint[], $8::integer[], $9::bigint[], $10::text[], $11::bigint)
