-- Caller: SlotLife::expire. Index: event_slot_term (which are due), event_slot_pkey,
-- slot_config_pkey; free_places. Locks: the pools of what is due, ascending, then its rows, those that
-- nobody else has locked. Commits without waiting for the disk, see release_slot.
-- Up to `most` slots that were to be confirmed before now become EXPIRED; those whose window has not
-- begun give their place back. Returns how many. Rows are reached by their id alone: with their status
-- as a condition too, a plan made while few were due would read all that are.
CREATE FUNCTION expire_slots(most bigint, now_us bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off SET jit = off
AS $$
DECLARE
  moment bigint := coalesce(now_us, epoch_us());
  due text[];
  due_pools integer[];
  ended text[];
  ended_pool integer[];
  ended_start bigint[];
  freed record;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT array_agg(d.event_id ORDER BY d.event_id), array_agg(DISTINCT c.pool_id)
    INTO due, due_pools
    FROM (SELECT s.event_id, s.config_id FROM event_slot s
           WHERE s.status = 0 AND s.confirm_by_us IS NOT NULL AND s.confirm_by_us < moment
           ORDER BY s.confirm_by_us LIMIT most) d
   CROSS JOIN LATERAL (SELECT t.pool_id FROM slot_config t
                        WHERE t.config_id = d.config_id LIMIT 1) c;
  IF due IS NULL THEN RETURN 0; END IF;
  PERFORM lock_pools(due_pools);
  -- One that was confirmed or given up meanwhile stays as it is, though it may have come back.
  SELECT array_agg(h.event_id), array_agg(c.pool_id), array_agg(h.window_start_ms)
    INTO ended, ended_pool, ended_start
    FROM unnest(due) AS d(event_id)
   CROSS JOIN LATERAL (SELECT * FROM event_slot t WHERE t.event_id = d.event_id
                        LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) h
   CROSS JOIN LATERAL (SELECT t.pool_id FROM slot_config t
                        WHERE t.config_id = h.config_id LIMIT 1) c
   WHERE h.status = 0 AND h.confirm_by_us < moment AND c.pool_id = ANY (due_pools);
  IF ended IS NULL THEN RETURN 0; END IF;
  UPDATE event_slot s SET status = 3 WHERE s.event_id = ANY (ended);
  FOR freed IN SELECT e.pool_id, e.start, count(*) AS places
                 FROM unnest(ended_pool, ended_start) AS e(pool_id, start)
                WHERE e.start * 1000 > moment GROUP BY 1, 2 ORDER BY 1, 2 LOOP
    PERFORM free_places(freed.pool_id, freed.start, freed.places);
  END LOOP;
  RETURN cardinality(ended);
END
$$;
