-- Caller: assign_slots, put_slot_config, prune_slot_windows, give_back_abandoned. Index: none. Locks: one advisory
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
