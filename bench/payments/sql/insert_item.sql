-- Caller: the limit of bench/payments. Index: dispatch_item_pkey. Locks: its own rows.
INSERT INTO penstock.dispatch_item (item_no, due_us, scheduled_us, created_us, type_id, item_id, digest, context)
SELECT $1::bigint + n.place, n.due_us, n.due_us, $2::bigint, 1, n.item_id, n.digest, n.context
  FROM unnest($3::text[], $4::bigint[], $5::bytea[], $6::bytea[]) WITH ORDINALITY
       AS n(item_id, due_us, digest, context, place)
