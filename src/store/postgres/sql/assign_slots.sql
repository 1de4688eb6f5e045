-- Caller: SlotStore::assign and QueueStore::enqueue. Index and locks: see the procedure
-- (migrations/0014_assign_slots_with_items.sql). $14 null = database clock. Answer only when flush.sql, sent behind it, has succeeded too.
CALL penstock.assign_slots($1::text[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[],
                           $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::integer[],
                           $11::text[], $12::integer[], $13::integer, $14::bigint, $15::text[],
                           $16::integer[], $17::text[], $18::bigint[], $19::text[], $20::bytea[],
                           $21::bytea[],
                           NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                           NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                           NULL, NULL)
