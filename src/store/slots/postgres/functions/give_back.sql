-- Caller: settle_pools, give_back_abandoned, each under the lock of the reservation's pool and with
-- the row locked. Index: slot_window_pkey, slot_reservation_pkey. Locks: none
-- more.
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
