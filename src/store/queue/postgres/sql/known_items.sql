-- Caller: QueueStore::enqueue, before the slots of a batch are placed. Index and locks: see the
-- function (migrations/0009_enqueue_items.sql).
SELECT * FROM penstock.known_items($1::text[], $2::integer[], $3::text[])
