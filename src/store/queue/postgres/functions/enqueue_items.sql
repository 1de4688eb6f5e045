-- Caller: QueueStore::enqueue. Index: dispatch_item_pkey, dispatch_queue_pkey, dispatch_audit_pkey.
-- Locks: the new items in the order of the arrays, ascending by type and id, so that inserters of the
-- same items never wait for each other in a circle.
-- Writes the items that are new: item, place in the queue, one count for each type. `item_type` points
-- into `types`; a due_us of null means that the item got no slot and is left out. The items of
-- `must_be_new` (a slot was taken for them) refuse the batch when they are there, see
-- worth_repeating(). `trusted`: all are; most items are new, and not looking is cheaper.
-- Answers, for each item that was there, its place in the arrays, digest, scheduled time and state;
-- null when all were new.
CREATE FUNCTION enqueue_items(
  IN types text[], IN item_type integer[], IN items text[], IN due_us bigint[],
  IN contexts bytea[], IN digests bytea[], IN must_be_new boolean[], IN trusted boolean,
  IN now_us bigint,
  OUT known_place integer[], OUT known_digest bytea[], OUT known_scheduled bigint[],
  OUT known_state integer[])
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  numbers integer[] := dispatch_types(types);
  created bigint := coalesce(now_us, epoch_us());
  -- Room for a million items of one batch.
  first_no bigint := nextval('dispatch_item_no') << 20;
  fresh_type integer[];
BEGIN
  IF trusted THEN
    INSERT INTO dispatch_item (item_no, due_us, scheduled_us, created_us, type_id, item_id, digest,
                               context)
    SELECT first_no + n.place, n.due_us, n.due_us, created, numbers[n.item_type], n.item_id,
           n.digest, n.context
      FROM unnest(item_type, items, due_us, digests, contexts) WITH ORDINALITY
           AS n(item_type, item_id, due_us, digest, context, place);
    INSERT INTO dispatch_queue (item_no, due_us, type_id, item_id)
    SELECT first_no + n.place, n.due_us, numbers[n.item_type], n.item_id
      FROM unnest(item_type, items, due_us) WITH ORDINALITY
           AS n(item_type, item_id, due_us, place);
    INSERT INTO dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
    SELECT numbers[n.item_type], count(*), 0, 0, 0, 0 FROM unnest(item_type) AS n(item_type)
     GROUP BY n.item_type;
    RETURN;
  END IF;

  WITH fresh AS (
    INSERT INTO dispatch_item (item_no, due_us, scheduled_us, created_us, type_id, item_id, digest,
                               context)
    SELECT first_no + n.place, n.due_us, n.due_us, created, numbers[n.item_type], n.item_id, n.digest, n.context
      FROM unnest(item_type, items, due_us, digests, contexts) WITH ORDINALITY
           AS n(item_type, item_id, due_us, digest, context, place)
     WHERE n.due_us IS NOT NULL
        ON CONFLICT (type_id, item_id) DO NOTHING
    RETURNING item_no, due_us, type_id, item_id),
  queued AS (
    INSERT INTO dispatch_queue (item_no, due_us, type_id, item_id)
    SELECT f.item_no, f.due_us, f.type_id, f.item_id FROM fresh f)
  SELECT coalesce(array_agg(f.type_id), '{}') INTO fresh_type FROM fresh f;

  INSERT INTO dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
  SELECT f.type_id, count(*), 0, 0, 0, 0 FROM unnest(fresh_type) AS f(type_id) GROUP BY f.type_id;
  IF cardinality(fresh_type) = cardinality(array_remove(due_us, NULL)) THEN
    RETURN;
  END IF;

  SELECT array_agg(k.place), array_agg(k.digest), array_agg(k.scheduled_us), array_agg(k.state)
    INTO known_place, known_digest, known_scheduled, known_state
    FROM (SELECT n.place::integer AS place, i.digest, i.scheduled_us,
                 item_state(i.type_id, i.due_us, i.item_id, i.item_no) AS state
            FROM unnest(item_type, items, due_us) WITH ORDINALITY
                 AS n(item_type, item_id, due_us, place)
           CROSS JOIN LATERAL (SELECT * FROM dispatch_item t
                                WHERE t.type_id = numbers[n.item_type]
                                  AND t.item_id = n.item_id LIMIT 1) i
           WHERE n.due_us IS NOT NULL
             AND i.item_no NOT BETWEEN first_no AND first_no + cardinality(items)
           ORDER BY n.place) k;
  -- Fewer: one was forgotten between the two statements. Then it is new the next time.
  IF cardinality(fresh_type) + coalesce(cardinality(known_place), 0)
       <> cardinality(array_remove(due_us, NULL))
     OR EXISTS (SELECT FROM unnest(known_place) AS k(place) WHERE must_be_new[k.place]) THEN
    RAISE EXCEPTION 'an item came or went meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
END
$$;
