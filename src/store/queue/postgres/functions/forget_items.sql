-- Caller: QueueStore::forget. Index: dispatch_settled_pkey, dispatch_item_pkey, dispatch_queue_pkey,
-- dispatch_audit_pkey. Locks: rows of the log and items that nobody else holds; it waits for none.
-- Takes out up to `most` items that were settled before `before_us`, dead ones with their row of
-- dispatch_dead; how many went.
CREATE FUNCTION forget_items(type_name text, before_us bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  type integer;
  log dispatch_settled;
  held text[];   -- items of the log's row that we have locked
  old text[];    -- those of them that may go
  numbers bigint[];
  rest text[];   -- those of the row that are for another time
  counts integer[];
  gone bigint := 0;
BEGIN
  SELECT t.type_id INTO type FROM dispatch_type t WHERE t.name = type_name;
  FOR log IN SELECT * FROM dispatch_settled s
              WHERE s.type_id = type AND s.settled_us < before_us
              ORDER BY s.settled_us, s.settled_no FOR UPDATE SKIP LOCKED LOOP
    EXIT WHEN gone >= most;
    rest := log.items[most - gone + 1:];
    SELECT array_agg(h.item_id) INTO held
      FROM (SELECT i.item_id FROM dispatch_item i
             WHERE i.type_id = type AND i.item_id = ANY (log.items[:most - gone])
             ORDER BY i.item_id FOR UPDATE SKIP LOCKED) h;
    -- Whoever holds the others may bring them back to life, or not.
    SELECT rest || array_agg(i.item_id) INTO rest FROM dispatch_item i
     WHERE i.type_id = type AND i.item_id = ANY (log.items[:most - gone])
       AND i.item_id <> ALL (coalesce(held, '{}'));
    -- An item may be back in the queue, or settled anew, which another row of the log tells.
    SELECT array_agg(h.item_id), array_agg(h.item_no),
           ARRAY[count(*) FILTER (WHERE h.state = 2), count(*) FILTER (WHERE h.state = 3),
                 count(*) FILTER (WHERE h.state = 4)]
      INTO old, numbers, counts
      FROM (SELECT i.item_id, i.item_no,
                   item_state(type, i.due_us, i.item_id, i.item_no) AS state
              FROM unnest(held) AS l(item_id)
              JOIN dispatch_item i ON i.type_id = type AND i.item_id = l.item_id
             WHERE (SELECT a.at_us FROM dispatch_audit a
                     WHERE a.item_no = i.item_no
                     ORDER BY a.entry DESC LIMIT 1) < before_us) h
     WHERE h.state >= 2;
    IF old IS NOT NULL THEN
      DELETE FROM dispatch_audit a WHERE a.item_no = ANY (numbers);
      IF counts[2] > 0 THEN
        DELETE FROM dispatch_dead d WHERE d.type_id = type AND d.item_id = ANY (old);
      END IF;
      DELETE FROM dispatch_item i WHERE i.type_id = type AND i.item_id = ANY (old);
      INSERT INTO dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
      VALUES (type, 0, 0, -counts[1], -counts[2], -counts[3]);
      gone := gone + cardinality(old);
    END IF;
    IF cardinality(rest) > 0 THEN
      UPDATE dispatch_settled s SET items = rest
       WHERE s.type_id = type AND s.settled_us = log.settled_us AND s.settled_no = log.settled_no;
    ELSE
      DELETE FROM dispatch_settled s
       WHERE s.type_id = type AND s.settled_us = log.settled_us AND s.settled_no = log.settled_no;
    END IF;
  END LOOP;
  RETURN gone;
END
$$;
