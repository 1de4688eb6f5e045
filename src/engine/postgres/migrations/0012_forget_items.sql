-- Caller: QueueStore::forget. Index: dispatch_settled_pkey, dispatch_item_pkey, dispatch_queue_pkey,
-- dispatch_audit_pkey. Locks: rows of the log and items that nobody else holds; it waits for none.
-- Takes out up to `most` items that were settled before `before_us`; how many went.
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

-- Caller: QueueStore::summary, fold_counts. Index: dispatch_total_pkey. Locks: none. Where the changes
-- of a type begin that are not in its total. A total from another server, whose transactions had
-- higher numbers, does not count; then all rows that are left are looked at.
CREATE FUNCTION changes_from(of_type integer) RETURNS xid8 LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT t.below FROM penstock.dispatch_total t
                    WHERE t.type_id = of_type
                      AND t.below <= pg_snapshot_xmin(pg_current_snapshot())), '0')
$$;

-- Caller: the change listener of every node, once a second. Index: dispatch_change_type,
-- dispatch_total_pkey. Locks: the totals that it changes; it waits for none.
CREATE FUNCTION fold_counts() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
  few CONSTANT integer := 32;  -- changes that are not worth a write
  type integer;
  ended xid8;
  folded bigint := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(1885434740, 0) THEN RETURN 0; END IF;  -- types start at 1
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR type IN SELECT t.type_id FROM dispatch_type t ORDER BY t.type_id LOOP
    CONTINUE WHEN (SELECT count(*) FROM (SELECT FROM dispatch_change c
                     WHERE c.type_id = type AND c.written >= changes_from(type) LIMIT few) f) < few;
    -- What this snapshot does not show yet is of a transaction that runs, or of one to come.
    ended := pg_snapshot_xmin(pg_current_snapshot());
    INSERT INTO dispatch_total (type_id) VALUES (type) ON CONFLICT (type_id) DO NOTHING;
    WITH gone AS (
      DELETE FROM dispatch_change c
       WHERE c.type_id = type AND c.written >= changes_from(type) AND c.written < ended
      RETURNING *)
    UPDATE dispatch_total t
       SET below = ended, ready = t.ready + g.ready, claimed = t.claimed + g.claimed,
           dispatched = t.dispatched + g.dispatched, dead = t.dead + g.dead,
           cancelled = t.cancelled + g.cancelled
      FROM (SELECT coalesce(sum(ready), 0) AS ready, coalesce(sum(claimed), 0) AS claimed,
                   coalesce(sum(dispatched), 0) AS dispatched, coalesce(sum(dead), 0) AS dead,
                   coalesce(sum(cancelled), 0) AS cancelled FROM gone) g
     WHERE t.type_id = type;
    folded := folded + 1;
  END LOOP;
  RETURN folded;
END
$$;
