-- Caller: the change listener of every node, once a second. Index: dispatch_change_type,
-- dispatch_total_pkey. Locks: the totals that it changes; it waits for none.
CREATE FUNCTION fold_counts() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
  few CONSTANT integer := 32;  -- changes that are not worth a write
  type integer;
  ended xid8;
  folded bigint := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(1885434740, 0) THEN RETURN 0; END IF;  -- types start at 1
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR type IN SELECT t.type_id FROM dispatch_type t ORDER BY t.type_id LOOP
    CONTINUE WHEN (SELECT count(*) FROM (SELECT FROM dispatch_change c
                     WHERE c.type_id = type AND c.written >= changes_from(type) LIMIT few) f) < few;
    -- What this snapshot does not show yet is of a transaction that runs, or of one to come.
    ended := pg_snapshot_xmin(pg_current_snapshot());
    INSERT INTO dispatch_total (type_id) VALUES (type) ON CONFLICT (type_id) DO NOTHING;
    WITH gone AS (
      DELETE FROM dispatch_change c
       WHERE c.type_id = type AND c.written >= changes_from(type) AND c.written < ended
      RETURNING *)
    UPDATE dispatch_total t
       SET below = ended, ready = t.ready + g.ready, claimed = t.claimed + g.claimed,
           dispatched = t.dispatched + g.dispatched, dead = t.dead + g.dead,
           cancelled = t.cancelled + g.cancelled
      FROM (SELECT coalesce(sum(ready), 0) AS ready, coalesce(sum(claimed), 0) AS claimed,
                   coalesce(sum(dispatched), 0) AS dispatched, coalesce(sum(dead), 0) AS dead,
                   coalesce(sum(cancelled), 0) AS cancelled FROM gone) g
     WHERE t.type_id = type;
    folded := folded + 1;
  END LOOP;
  RETURN folded;
END
$$;
