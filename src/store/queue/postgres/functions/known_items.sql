-- Caller: QueueStore::enqueue, before the slots of a batch are placed. Index: dispatch_type_name,
-- dispatch_item_pkey. Locks: none. The items of these that are there, as enqueue_items answers.
CREATE FUNCTION known_items(
  IN types text[], IN item_type integer[], IN items text[],
  OUT known_place integer[], OUT known_digest bytea[], OUT known_scheduled bigint[],
  OUT known_state integer[])
LANGUAGE sql STABLE
SET search_path = penstock, pg_temp SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
  SELECT array_agg(n.place::integer ORDER BY n.place), array_agg(i.digest ORDER BY n.place),
         array_agg(i.scheduled_us ORDER BY n.place),
         array_agg(item_state(i.type_id, i.due_us, i.item_id, i.item_no) ORDER BY n.place)
    FROM unnest(item_type, items) WITH ORDINALITY AS n(item_type, item_id, place)
    JOIN dispatch_type t ON t.name = types[n.item_type]
   CROSS JOIN LATERAL (SELECT * FROM dispatch_item d
                        WHERE d.type_id = t.type_id AND d.item_id = n.item_id LIMIT 1) i
$$;
