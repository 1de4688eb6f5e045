-- Caller: the change listener of every node, once a second. Index: slot_reservation_pkey. Locks: the
-- pools with reservations, ascending; those reservations that nobody else has locked; the floor.
-- Gives back the places of batches that failed, and returns how many reservations that were.
CREATE FUNCTION give_back_abandoned() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
-- The listener has news to wait for; a pool that is busy now is free in a second.
SET lock_timeout = '250ms'
AS $$
DECLARE
  pool integer;
  abandoned slot_reservation;
  gone bigint := 0;
  floor xid8;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR pool IN SELECT DISTINCT r.pool_id FROM slot_reservation r
               WHERE r.reservation_id >= reservations_from() ORDER BY 1 LOOP
    PERFORM lock_pools(ARRAY[pool]);
    FOR abandoned IN SELECT * FROM slot_reservation r
                      WHERE r.reservation_id >= reservations_from() AND r.pool_id = pool
                      ORDER BY r.reservation_id FOR UPDATE SKIP LOCKED LOOP
      PERFORM give_back(abandoned);
      gone := gone + 1;
    END LOOP;
  END LOOP;
  -- What this snapshot does not show yet is of a transaction that runs, or of one to come.
  SELECT least(pg_snapshot_xmin(pg_current_snapshot()),
               (SELECT r.reservation_id FROM slot_reservation r
                 WHERE r.reservation_id >= reservations_from() ORDER BY 1 LIMIT 1)) INTO floor;
  IF floor::text::bigint - reservations_from()::text::bigint > 1000 THEN
    UPDATE slot_reservation_floor SET below = floor;
  END IF;
  RETURN gone;
END
$$;
