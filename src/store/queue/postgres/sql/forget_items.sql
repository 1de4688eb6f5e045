-- Caller: QueueStore::forget. Index and locks: see the function.
SELECT penstock.forget_items($1::text, $2::bigint, $3::bigint)
