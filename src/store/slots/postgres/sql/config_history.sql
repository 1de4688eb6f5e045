-- Caller: SlotConfigStore::history. Index: slot_config_name_version_key, slot_pool_pkey. Locks: none.
SELECT c.name, p.name, c.max_per_window, p.window_size_ms, c.version, c.active, c.effective_from_us
  FROM penstock.slot_config c JOIN penstock.slot_pool p ON p.pool_id = c.pool_id
 WHERE c.name = $1::text
 ORDER BY c.version DESC
 LIMIT $2::bigint
