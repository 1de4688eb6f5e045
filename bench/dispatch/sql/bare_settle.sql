-- Caller: the limit of bench/dispatch. Index: bare_queue_pkey. Locks: the rows.
DELETE FROM public.bare_queue q USING unnest($2::text[], $3::bigint[]) AS s(item_id, due_us)
 WHERE q.type_id = $1::integer AND q.due_us = s.due_us AND q.item_id = s.item_id AND q.token = 1
