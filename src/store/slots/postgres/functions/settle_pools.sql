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
