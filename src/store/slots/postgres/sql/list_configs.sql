-- Caller: SlotConfigStore::list. Index: slot_config_active, slot_pool_pkey. Locks: none.
SELECT c.name, p.name, c.max_per_window, p.window_size_ms, c.version, c.active, c.effective_from_us
  FROM penstock.slot_config c JOIN penstock.slot_pool p ON p.pool_id = c.pool_id
 WHERE c.active AND c.name > $1::text
 ORDER BY c.name
 LIMIT $2::bigint
