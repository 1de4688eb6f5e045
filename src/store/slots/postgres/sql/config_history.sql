-- Caller: SlotConfigStore::history. Index: slot_config_name_version_key. Locks: none.
SELECT c.version, c.active, c.effective_from_us, c.document
  FROM penstock.slot_config c
 WHERE c.name = $1::text
 ORDER BY c.version DESC
 LIMIT $2::bigint
