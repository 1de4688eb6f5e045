-- Caller: QueueStore::claim. Index and locks: see the function (migrations/0010_claim_items.sql).
-- $7 null = database clock, $8 null = from the start.
SELECT * FROM penstock.claim_items($1::text, $2::bigint, $3::integer, $4::bigint, $5::bigint,
                                   $6::integer, $7::bigint, $8::bigint, $9::text)
