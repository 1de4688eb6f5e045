-- Caller: penstock migrate. Locks: event_slot, for the time of one read of the table.
-- When a slot is to be confirmed; null = nobody waits for it. Kept while ASSIGNED, and of one that
-- EXPIRED.
ALTER TABLE event_slot ADD COLUMN confirm_by_us bigint;
-- Slots without a term are not in it.
CREATE INDEX event_slot_term ON event_slot (confirm_by_us)
  WHERE status = 0 AND confirm_by_us IS NOT NULL;

CREATE OR REPLACE VIEW event_slot_readable AS
  SELECT s.event_id, c.name AS config, c.version AS config_version,
         to_timestamp(s.requested_ms / 1000.0) AS requested,
         to_timestamp(s.window_start_ms / 1000.0) AS window_start,
         to_timestamp(s.scheduled_ms / 1000.0) AS scheduled,
         to_timestamp(s.created_us / 1000000.0) AS created,
         (ARRAY['ASSIGNED', 'CONFIRMED', 'RELEASED', 'EXPIRED'])[s.status + 1] AS status,
         to_timestamp(s.confirm_by_us / 1000000.0) AS confirm_by
    FROM event_slot s JOIN slot_config c USING (config_id);

-- Caller: release_slot, expire_slots, under the lock of the pool. Index: slot_window_pkey,
-- slot_config_pool, slot_pool_pkey. Locks: the pool's row.
-- A window has room for so many more. What the nodes remember of full windows is void only when this
-- one was full for a config of the pool: else none of them can remember it so. The number starts
-- anew rather than fail; nodes that know a higher one then search without a hint.
CREATE FUNCTION free_places(pool integer, start bigint, places bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  used_before bigint;
BEGIN
  UPDATE slot_window w
     SET used = w.used - places, charges = w.charges + 1, generation = (w.charges + 1) / 64
   WHERE w.pool_id = pool AND w.window_start_ms = start
  RETURNING w.used + places INTO used_before;
  IF used_before >= (SELECT min(c.max_per_window) FROM slot_config c
                      WHERE c.pool_id = pool AND c.active) THEN
    UPDATE slot_pool p SET returned = ((p.returned::bigint + 1) & 2147483647)::integer
     WHERE p.pool_id = pool;
  END IF;
END
$$;

-- Caller: SlotLife::confirm. Index: event_slot_pkey, slot_config_pkey. Locks: the event's row.
-- ASSIGNED becomes CONFIRMED. No row: the event has no slot; `done` false: it was given up.
CREATE FUNCTION confirm_slot(event text)
RETURNS TABLE (done boolean, config_name text, config_version bigint, requested bigint,
               window_start bigint, scheduled bigint, created bigint, new_status smallint,
               confirm_by bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
  held event_slot;
BEGIN
  SELECT * INTO held FROM event_slot s WHERE s.event_id = event FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF held.status = 0 THEN
    held.status := 1;
    held.confirm_by_us := NULL;
    UPDATE event_slot s SET status = 1, confirm_by_us = NULL WHERE s.event_id = event;
  END IF;
  RETURN QUERY
    SELECT held.status = 1, c.name, c.version, held.requested_ms, held.window_start_ms,
           held.scheduled_ms, held.created_us, held.status, held.confirm_by_us
      FROM slot_config c WHERE c.config_id = held.config_id;
END
$$;

-- Caller: SlotLife::release. Index: event_slot_pkey, slot_config_pkey; free_places. Locks: the pool,
-- then the event's row. Commits without waiting for the disk, which frees the pool at once: the
-- caller must send flush.sql behind this call and trust the answer only when that has succeeded.
-- ASSIGNED or CONFIRMED becomes RELEASED, and its window has room for one more. No row: the event has
-- no slot; `done` false: it was given up before, or its window has begun.
CREATE FUNCTION release_slot(event text, now_us bigint)
RETURNS TABLE (done boolean, config_name text, config_version bigint, requested bigint,
               window_start bigint, scheduled bigint, created bigint, new_status smallint,
               confirm_by bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
  held event_slot;
  config slot_config;
  pool integer;
  released boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT * INTO held FROM event_slot s WHERE s.event_id = event;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT * INTO config FROM slot_config c WHERE c.config_id = held.config_id;
  -- What cannot be released needs no lock: the pool must not wait for a row that a prune takes out.
  released := held.status < 2 AND held.window_start_ms * 1000 > coalesce(now_us, epoch_us());
  IF released THEN
    pool := config.pool_id;
    PERFORM lock_pools(ARRAY[pool]);
    SELECT * INTO held FROM event_slot s WHERE s.event_id = event FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT * INTO config FROM slot_config c WHERE c.config_id = held.config_id;
    IF config.pool_id <> pool THEN
      RAISE EXCEPTION 'the event has a slot in another pool now'
        USING ERRCODE = 'serialization_failure';
    END IF;
    released := held.status < 2 AND held.window_start_ms * 1000 > coalesce(now_us, epoch_us());
  END IF;
  IF released THEN
    held.status := 2;
    held.confirm_by_us := NULL;
    UPDATE event_slot s SET status = 2, confirm_by_us = NULL WHERE s.event_id = event;
    PERFORM free_places(pool, held.window_start_ms, 1);
  END IF;
  RETURN QUERY
    SELECT released, config.name, config.version, held.requested_ms, held.window_start_ms,
           held.scheduled_ms, held.created_us, held.status, held.confirm_by_us;
END
$$;

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
