-- Caller: the limit of bench/dispatch. Index: bare_queue_pkey, bare_context_pkey. Locks: rows, skip locked.
WITH picked AS MATERIALIZED (
  SELECT q.ctid AS place FROM public.bare_queue q
   WHERE q.type_id = $1::integer AND q.due_us >= $2::bigint AND q.due_us <= $3::bigint AND q.token = 0
   ORDER BY q.due_us, q.item_id LIMIT $4::integer FOR UPDATE SKIP LOCKED),
mine AS (
  UPDATE public.bare_queue q SET token = 1, claimed_us = $3::bigint
    FROM picked p WHERE q.ctid = p.place RETURNING q.item_id, q.due_us)
SELECT m.item_id, m.due_us, c.context FROM mine m
 CROSS JOIN LATERAL (SELECT t.context FROM public.bare_context t
                      WHERE t.type_id = $1::integer AND t.item_id = m.item_id LIMIT 1) c
