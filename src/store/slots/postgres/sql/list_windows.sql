-- Caller: SlotStore::windows. Index: slot_pool_name_window_size_ms_key, slot_window_pkey. Locks: none.
SELECT w.window_start_ms, w.used
  FROM penstock.slot_window w
 WHERE w.pool_id = (SELECT p.pool_id FROM penstock.slot_pool p
                     WHERE p.name = $1::text AND p.window_size_ms = $2::bigint)
   AND w.window_start_ms >= $3::bigint AND w.window_start_ms < $4::bigint AND w.used > 0
 ORDER BY w.window_start_ms
 LIMIT $5::bigint
