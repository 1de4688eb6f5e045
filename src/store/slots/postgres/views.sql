-- Caller: people. Index: none of their own. Locks: none. The tables with names and timestamps.
CREATE VIEW slot_window_readable AS
  SELECT p.name AS pool, to_timestamp(w.window_start_ms / 1000.0) AS window_start,
         p.window_size_ms * interval '1 millisecond' AS window_size, w.used
    FROM slot_window w JOIN slot_pool p USING (pool_id);
CREATE VIEW event_slot_readable AS
  SELECT ltrim(s.event_id, ' ') AS event_id, c.name AS config, c.version AS config_version,
         to_timestamp(s.requested_ms / 1000.0) AS requested,
         to_timestamp(s.window_start_ms / 1000.0) AS window_start,
         to_timestamp(s.scheduled_ms / 1000.0) AS scheduled,
         to_timestamp(s.created_us / 1000000.0) AS created,
         (ARRAY['ASSIGNED', 'CONFIRMED', 'RELEASED', 'EXPIRED'])[s.status + 1] AS status,
         to_timestamp(s.confirm_by_us / 1000000.0) AS confirm_by,
         CASE WHEN starts_with(s.event_id, ' ') THEN 'dispatch' END AS owner
    FROM event_slot s JOIN slot_config c USING (config_id);
