-- Caller: SlotRetention::prune. Index: event_slot_window, slot_config_pkey, slot_pool_pkey. Locks:
-- the rows it takes out. Readers do not wait. Of assignments only those do that replace an old slot,
-- RELEASED or EXPIRED, which is taken out just now.
-- Takes out up to $2 slots of windows that have ended at $1 (never later than now), those of the
-- earliest windows first.
WITH bound AS MATERIALIZED (SELECT least($1::bigint, penstock.epoch_us() / 1000) AS ms),
old AS MATERIALIZED (
  SELECT s.ctid AS place
    FROM penstock.event_slot s
    JOIN penstock.slot_config c ON c.config_id = s.config_id
    JOIN penstock.slot_pool p ON p.pool_id = c.pool_id
   WHERE s.window_start_ms < (SELECT ms FROM bound)
     AND s.window_start_ms + p.window_size_ms <= (SELECT ms FROM bound)
   ORDER BY s.window_start_ms
   LIMIT $2::bigint
   FOR UPDATE OF s SKIP LOCKED),
gone AS (
  DELETE FROM penstock.event_slot s USING old WHERE s.ctid = old.place RETURNING s.*)
SELECT g.event_id, c.name, c.version, g.requested_ms, g.window_start_ms, g.scheduled_ms,
       g.created_us, g.status, g.confirm_by_us
  FROM gone g JOIN penstock.slot_config c ON c.config_id = g.config_id
 ORDER BY g.window_start_ms, g.event_id
