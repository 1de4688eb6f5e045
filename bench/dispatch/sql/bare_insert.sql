-- Caller: the limit of bench/dispatch. Index: bare_item_pkey. Locks: none but its own rows.
INSERT INTO public.bare_item (due_us, type_id, item_id, digest, context)
SELECT n.due_us, $1::integer, n.item_id, n.digest, n.context
  FROM unnest($2::text[], $3::bigint[], $4::bytea[], $5::bytea[]) AS n(item_id, due_us, digest, context)
