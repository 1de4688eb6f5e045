-- Caller: SlotStore::assign and QueueStore::enqueue. Index and locks: see the procedure.
-- $15 null = database clock. Answer only when flush.sql, sent behind it, has succeeded too.
CALL penstock.assign_slots($1::text[], $2::bigint[], $3::integer[], $4::bigint[], $5::integer[],
                           $6::integer[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],
                           $11::integer[], $12::text[], $13::integer[], $14::integer, $15::bigint,
                           $16::text[], $17::integer[], $18::text[], $19::bigint[], $20::text[],
                           $21::bytea[], $22::bytea[], NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                           NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                           NULL, NULL, NULL, NULL, NULL)
