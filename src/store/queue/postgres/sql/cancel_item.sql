-- Caller: QueueStore::cancel. Index and locks: see the function.
-- $3 null = database clock.
SELECT penstock.cancel_item($1::text, $2::text, $3::bigint), NULL::bigint
