-- Caller: SlotLife::release. Index and locks: see the function.
-- $2 null = database clock. Answer only when flush.sql, sent behind it, has succeeded too.
SELECT * FROM penstock.release_slot($1::text, $2::bigint)
