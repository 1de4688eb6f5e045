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
