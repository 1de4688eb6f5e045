-- Caller: QueueStore::enqueue, before the slots of a batch are placed. Index and locks: see the
-- function.
SELECT * FROM penstock.known_items($1::text[], $2::integer[], $3::text[])
