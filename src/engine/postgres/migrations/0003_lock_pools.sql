-- Caller: assign_slots, put_slot_config, prune_slot_windows, give_back_abandoned. Locks: one advisory
-- lock per pool, in ascending order of pool_id, until the end of the transaction. 1885434739 is
-- "pens" in ASCII and keeps our keys apart from other users of advisory locks in this database.
-- The lock is in memory, first come first served, and writes nothing, unlike a row lock.
CREATE FUNCTION lock_pools(pools integer[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  pool integer;
BEGIN
  IF cardinality(pools) = 1 THEN
    PERFORM pg_advisory_xact_lock(1885434739, pools[1]);
    RETURN;
  END IF;
  FOR pool IN SELECT DISTINCT p FROM unnest(pools) p WHERE p IS NOT NULL ORDER BY p LOOP
    PERFORM pg_advisory_xact_lock(1885434739, pool);
  END LOOP;
END
$$;

-- Caller: functions of this schema. Where a search for reservations begins. A floor from another
-- server, whose transactions had higher numbers, does not count.
CREATE FUNCTION reservations_from() RETURNS xid8 LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT f.below FROM penstock.slot_reservation_floor f
                    WHERE f.below <= pg_snapshot_xmin(pg_current_snapshot())), '0')
$$;

-- Caller: settle_pools, give_back_abandoned, each under the lock of the reservation's pool and with
-- the row locked. Index: slot_window_pkey, slot_reservation_pkey.
CREATE FUNCTION give_back(given slot_reservation) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE slot_window w
     SET used = w.used - g.places, charges = w.charges + 1, generation = (w.charges + 1) / 64
    FROM unnest(given.windows, given.places) AS g(start, places)
   WHERE w.pool_id = given.pool_id AND w.window_start_ms = g.start;
  UPDATE slot_pool SET returned = returned + 1 WHERE pool_id = given.pool_id;
  DELETE FROM slot_reservation r
   WHERE r.reservation_id = given.reservation_id AND r.pool_id = given.pool_id;
END
$$;

-- Caller: assign_slots, put_slot_config, prune_slot_windows, under the locks of these pools. Index:
-- slot_reservation_pkey. Locks: reservations in the order of their key.
-- Waits for the batches that fill their places and gives back those of batches that failed: then the
-- counters equal the rows, and stay so until the pools are free again.
CREATE FUNCTION settle_pools(pools integer[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  pending slot_reservation;
BEGIN
  FOR pending IN SELECT * FROM slot_reservation r
                  WHERE r.reservation_id >= reservations_from() AND r.pool_id = ANY (pools)
                  ORDER BY r.reservation_id, r.pool_id FOR UPDATE LOOP
    PERFORM give_back(pending);
  END LOOP;
END
$$;

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
