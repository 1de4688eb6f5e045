-- Caller: QueueStore::redrive. Index and locks: see the function.
-- $3 null = database clock.
SELECT * FROM penstock.redrive_item($1::text, $2::text, $3::bigint)
