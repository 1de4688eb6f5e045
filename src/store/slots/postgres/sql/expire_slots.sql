-- Caller: SlotLife::expire. Index and locks: see the function.
-- $2 null = database clock. Answer only when flush.sql, sent behind it, has succeeded too.
SELECT penstock.expire_slots($1::bigint, $2::bigint)
