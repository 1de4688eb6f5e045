-- Caller: the benchmark's baseline, one call and one transaction per event. Index:
-- baseline_slot_event_id_key, baseline_window_pkey, baseline_window_used, baseline_frontier_pkey.
-- Locks: one window row, skipping locked ones.
--
-- The steps are those that the design documents, each with the statement it documents, in its
-- order. Where it inserts and catches the duplicate, ON CONFLICT does the same cheaper here, and a
-- chunk is provisioned by one statement instead of a loop; both favour the baseline. So does
-- `first_full`, the caller's memory of first windows that have no room. The chunks that one call may
-- add are not limited to two, so that no event has to be sent again.
CREATE FUNCTION baseline_assign(event text, requested bigint, size bigint, places integer,
                                config text, first_full boolean,
                                OUT scheduled bigint, OUT first_has_room boolean)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  now_us bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  first_start bigint := requested - requested % size;
  search_from bigint := first_start + size;
  first_used integer;
  frontier bigint;
  found_start bigint;
  candidate bigint;
BEGIN
  -- Phase 0: an event that has a slot gets it again.
  SELECT s.scheduled_ms INTO scheduled FROM baseline_slot s WHERE s.event_id = event;
  IF FOUND THEN RETURN; END IF;

  -- Phase 1: the window asked for, with the rest of its share.
  first_has_room := NOT first_full;
  IF NOT first_full THEN
    INSERT INTO baseline_window VALUES (first_start, 0, now_us) ON CONFLICT DO NOTHING;
    SELECT w.used INTO first_used FROM baseline_window w
     WHERE w.window_start_ms = first_start FOR UPDATE SKIP LOCKED;
    IF first_used < places * (size - (requested - first_start)) / size THEN
      found_start := first_start;
    ELSIF first_used IS NOT NULL THEN
      first_has_room := false;
    END IF;
  END IF;

  -- Phase 2: how far windows are provisioned, then find and lock in one statement; when it comes
  -- back empty, look without a lock whether there is a candidate, and pass over it if so.
  IF found_start IS NULL THEN
    SELECT max(f.window_end_ms) INTO frontier FROM baseline_frontier f
     WHERE f.requested_ms = first_start;
    frontier := coalesce(frontier, search_from);
  END IF;
  WHILE found_start IS NULL LOOP
    LOOP
      SELECT w.window_start_ms INTO found_start FROM baseline_window w
       WHERE w.window_start_ms = (SELECT i.window_start_ms FROM baseline_window i
                                   WHERE i.window_start_ms >= search_from
                                     AND i.window_start_ms < frontier AND i.used < places
                                   ORDER BY i.window_start_ms LIMIT 1)
         AND w.used < places
         FOR UPDATE SKIP LOCKED;
      EXIT WHEN found_start IS NOT NULL;
      SELECT i.window_start_ms INTO candidate FROM baseline_window i
       WHERE i.window_start_ms >= search_from AND i.window_start_ms < frontier AND i.used < places
       ORDER BY i.window_start_ms LIMIT 1;
      EXIT WHEN candidate IS NULL;
      search_from := candidate + size;
    END LOOP;
    EXIT WHEN found_start IS NOT NULL;
    -- The range is full: provision a chunk unless its last window is there, and move the frontier.
    IF NOT EXISTS (SELECT FROM baseline_window w
                    WHERE w.window_start_ms = frontier + 99 * size) THEN
      INSERT INTO baseline_window SELECT frontier + n * size, 0, now_us
        FROM generate_series(0, 99) n ON CONFLICT DO NOTHING;
    END IF;
    search_from := frontier;
    frontier := frontier + 100 * size;
    INSERT INTO baseline_frontier VALUES (first_start, frontier, now_us) ON CONFLICT DO NOTHING;
  END LOOP;

  -- Claim: the audit row, then the counter.
  scheduled := greatest(found_start, requested)
    + floor(random() * (found_start + size - greatest(found_start, requested)))::bigint;
  INSERT INTO baseline_slot VALUES (gen_random_uuid()::text, event, requested, found_start,
                                    scheduled, config, now_us) ON CONFLICT (event_id) DO NOTHING;
  IF NOT FOUND THEN
    SELECT s.scheduled_ms INTO scheduled FROM baseline_slot s WHERE s.event_id = event;
    RETURN;
  END IF;
  UPDATE baseline_window w SET used = w.used + 1 WHERE w.window_start_ms = found_start;
END
$$
