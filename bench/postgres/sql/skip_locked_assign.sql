-- Caller: the benchmark's refused variant. Index: slot_window_pkey. Locks: window rows, skipping
-- locked ones. One batch of events that all ask for the same instant, placed into the earliest
-- windows that no other batch holds.
CREATE FUNCTION skip_locked_assign(events text[], entropy bigint[], requested bigint, pool integer,
                                   config integer, size bigint, places integer, search_from bigint)
RETURNS bigint[] LANGUAGE plpgsql
SET search_path = penstock, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off SET jit = off
AS $$
DECLARE
  need integer := cardinality(events);
  starts bigint[] := '{}';
  taken integer[] := '{}';
  event_start bigint[] := '{}';
  held record;
  last_start bigint := search_from - size;
  take integer;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM FROM unnest(events) e(id)
    CROSS JOIN LATERAL (SELECT FROM event_slot t WHERE t.event_id = e.id LIMIT 1) s;
  FOR held IN SELECT w.window_start_ms, w.used FROM slot_window w
               WHERE w.pool_id = pool AND w.window_start_ms >= search_from AND w.used < places
               ORDER BY w.window_start_ms LIMIT 16 FOR UPDATE SKIP LOCKED LOOP
    EXIT WHEN need = 0;
    take := least(need, places - held.used);
    starts := starts || held.window_start_ms;
    taken := taken || take;
    event_start := event_start || array_fill(held.window_start_ms, ARRAY[take]);
    need := need - take;
  END LOOP;
  UPDATE slot_window w SET used = w.used + c.take
    FROM unnest(starts, taken) AS c(start, take)
   WHERE w.pool_id = pool AND w.window_start_ms = c.start;
  -- New windows behind the last one that anybody made; a collision means another batch was quicker.
  SELECT max(w.window_start_ms) INTO last_start FROM slot_window w WHERE w.pool_id = pool;
  last_start := greatest(coalesce(last_start, 0), search_from - size);
  WHILE need > 0 LOOP
    last_start := last_start + size;
    take := least(need, places);
    INSERT INTO slot_window VALUES (last_start, pool, take, 0, 0) ON CONFLICT DO NOTHING;
    CONTINUE WHEN NOT FOUND;
    event_start := event_start || array_fill(last_start, ARRAY[take]);
    need := need - take;
  END LOOP;
  INSERT INTO event_slot
  SELECT requested, e.start, e.start + (((((e.entropy >> 32) & 4294967295) * size)
         + (((e.entropy & 4294967295) * size) >> 32)) >> 32), epoch_us(), config, 0, e.id
    FROM unnest(events, entropy, event_start) AS e(id, entropy, start)
   ORDER BY e.id COLLATE "C";
  RETURN event_start;
END
$$
