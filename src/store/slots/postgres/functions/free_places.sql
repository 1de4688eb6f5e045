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
