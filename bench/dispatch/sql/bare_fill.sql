-- Caller: the limit of bench/dispatch, to fill what it drains. Index: both. Locks: its own rows.
WITH queued AS (
  INSERT INTO public.bare_queue (due_us, type_id, item_id)
  SELECT n.due_us, $1::integer, n.item_id FROM unnest($2::text[], $3::bigint[]) AS n(item_id, due_us))
INSERT INTO public.bare_context (type_id, item_id, context)
SELECT $1::integer, n.item_id, n.context FROM unnest($2::text[], $4::bytea[]) AS n(item_id, context)
