-- Caller: the benchmark's limit. Index: both of event_slot. Locks: none but its own rows.
INSERT INTO penstock.event_slot (requested_ms, window_start_ms, scheduled_ms, created_us, config_id,
                                 status, event_id)
SELECT $2::bigint, $3::bigint, e.scheduled, $4::bigint, 1, 0, e.event_id
  FROM unnest($1::text[], $5::bigint[]) AS e(event_id, scheduled)
