-- Caller: SlotConfigStore::put. Index: slot_config_active, slot_config_pool, slot_window_pkey.
-- Locks: one advisory lock for all config changes, then every pool of the old and the new name, so
-- that no batch places by the old version after this commits, and what has been placed by it is
-- there to see. Notifies all nodes at commit.
CREATE FUNCTION put_slot_config(
  IN config_name text, IN pool_name text, IN new_max integer, IN new_size_ms bigint,
  IN new_document json, IN now_us bigint,
  OUT problem text, OUT version bigint, OUT effective_from_us bigint,
  OUT old_version bigint, OUT old_active boolean, OUT old_effective_from_us bigint,
  OUT old_document json)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  old slot_config;
  pool integer;
  pools integer[];
  other record;
BEGIN
  PERFORM pg_advisory_xact_lock(1885434739, 0);  -- pool ids start at 1
  SELECT * INTO old FROM slot_config c WHERE c.name = config_name AND c.active;
  SELECT array_agg(p.pool_id) INTO pools FROM slot_pool p
   WHERE p.name = pool_name OR p.pool_id = old.pool_id;
  PERFORM lock_pools(pools);
  PERFORM settle_pools(pools);
  effective_from_us := coalesce(now_us, epoch_us());

  SELECT c.name, p.window_size_ms INTO other
    FROM slot_config c JOIN slot_pool p USING (pool_id)
   WHERE c.active AND p.name = pool_name AND p.window_size_ms <> new_size_ms
     AND c.name <> config_name ORDER BY c.name LIMIT 1;
  IF FOUND THEN
    problem := format('config %s of pool %s has windows of %s ms; one pool has one window size',
                      other.name, pool_name, other.window_size_ms);
    RETURN;
  END IF;
  SELECT p.window_size_ms INTO other
    FROM slot_pool p
   WHERE p.name = pool_name AND p.window_size_ms <> new_size_ms
     AND EXISTS (SELECT FROM slot_window w
                  WHERE w.pool_id = p.pool_id AND w.used > 0
                    AND (w.window_start_ms + p.window_size_ms) * 1000 > effective_from_us)
   LIMIT 1;
  IF FOUND THEN
    problem := format('pool %s has assignments in windows of %s ms that have not ended; its window'
                      ' size cannot change before', pool_name, other.window_size_ms);
    RETURN;
  END IF;

  INSERT INTO slot_pool (name, window_size_ms) VALUES (pool_name, new_size_ms)
    ON CONFLICT (name, window_size_ms) DO NOTHING;
  SELECT p.pool_id INTO pool FROM slot_pool p
   WHERE p.name = pool_name AND p.window_size_ms = new_size_ms;
  IF old.config_id IS NOT NULL THEN
    UPDATE slot_config SET active = false WHERE config_id = old.config_id;
    old_version := old.version;
    old_active := false;
    old_effective_from_us := old.effective_from_us;
    old_document := old.document;
  END IF;
  version := coalesce(old.version, 0) + 1;
  INSERT INTO slot_config
    (pool_id, version, effective_from_us, max_per_window, active, name, document)
  VALUES (pool, version, effective_from_us, new_max, true, config_name, new_document);
  PERFORM pg_notify('penstock_slot_config', config_name);
END
$$;
