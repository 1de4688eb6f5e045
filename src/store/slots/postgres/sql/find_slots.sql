-- Caller: SlotStore::find. Index: event_slot_pkey, slot_config_pkey. Locks: none.
SELECT e.ord::integer, c.name, c.version, s.requested_ms, s.window_start_ms, s.scheduled_ms,
       s.created_us, s.status, s.confirm_by_us
  FROM unnest($1::text[]) WITH ORDINALITY AS e(event_id, ord)
 CROSS JOIN LATERAL (SELECT * FROM penstock.event_slot t WHERE t.event_id = e.event_id LIMIT 1) s
 CROSS JOIN LATERAL (SELECT t.name, t.version FROM penstock.slot_config t
                      WHERE t.config_id = s.config_id LIMIT 1) c
