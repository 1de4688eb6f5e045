-- Caller: QueueStore::enqueue, for a batch without slots. Index and locks: see the function.
-- $8 null = database clock.
SELECT * FROM penstock.enqueue_items($1::text[], $2::integer[], $3::text[], $4::bigint[],
                                     $5::bytea[], $6::bytea[], '{}', $7::boolean,
                                     $8::bigint)
