-- Caller: the limit of bench/payments. Index: dispatch_queue_pkey. Locks: its own rows.
INSERT INTO penstock.dispatch_queue (item_no, due_us, type_id, item_id)
SELECT $1::bigint + n.place, n.due_us, 1, n.item_id
  FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS n(item_id, due_us, place)
