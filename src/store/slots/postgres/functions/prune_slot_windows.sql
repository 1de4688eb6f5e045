-- Caller: SlotRetention::prune, after the slots of these windows are gone. Index: slot_window_pkey,
-- event_slot_window. Locks: the pools it touches, in ascending order, for one short step.
-- Takes out up to `most` counters of windows that have ended at `before_ms` (never later than now) and
-- hold no slot any more; returns how many.
CREATE FUNCTION prune_slot_windows(before_ms bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
DECLARE
  bound bigint := least(before_ms, epoch_us() / 1000);
  pool slot_pool;
  gone bigint := 0;
  step bigint;
BEGIN
  FOR pool IN SELECT * FROM slot_pool ORDER BY pool_id LOOP
    CONTINUE WHEN NOT EXISTS (SELECT FROM slot_window w
                               WHERE w.pool_id = pool.pool_id
                                 AND w.window_start_ms <= bound - pool.window_size_ms);
    PERFORM lock_pools(ARRAY[pool.pool_id]);
    -- Places that are taken and not yet filled are slots to come.
    PERFORM settle_pools(ARRAY[pool.pool_id]);
    WITH old AS MATERIALIZED (
      SELECT w.ctid AS place FROM slot_window w
       WHERE w.pool_id = pool.pool_id AND w.window_start_ms <= bound - pool.window_size_ms
         AND NOT EXISTS (SELECT FROM event_slot s JOIN slot_config c ON c.config_id = s.config_id
                          WHERE s.window_start_ms = w.window_start_ms
                            AND c.pool_id = pool.pool_id)
       ORDER BY w.window_start_ms LIMIT most - gone)
    DELETE FROM slot_window w USING old WHERE w.ctid = old.place;
    GET DIAGNOSTICS step = ROW_COUNT;
    gone := gone + step;
    EXIT WHEN gone >= most;
  END LOOP;
  RETURN gone;
END
$$;
