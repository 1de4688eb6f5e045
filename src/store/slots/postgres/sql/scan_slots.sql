-- Caller: SlotStore::scan. Index: event_slot_pkey, slot_config_pkey. Locks: none.
SELECT s.event_id, c.name, c.version, s.requested_ms, s.window_start_ms, s.scheduled_ms,
       s.created_us, s.status, s.confirm_by_us
  FROM (SELECT * FROM penstock.event_slot t
         WHERE t.event_id > $1::text ORDER BY t.event_id LIMIT $2::bigint) s
 CROSS JOIN LATERAL (SELECT t.name, t.version FROM penstock.slot_config t
                      WHERE t.config_id = s.config_id LIMIT 1) c
 ORDER BY s.event_id
