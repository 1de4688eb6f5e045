-- Caller: SlotConfigStore::put. Index and locks: see the function. $6 null = database clock.
SELECT * FROM penstock.put_slot_config($1::text, $2::text, $3::integer, $4::bigint, $5::json,
                                       $6::bigint)
