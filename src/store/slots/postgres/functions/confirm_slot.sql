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
