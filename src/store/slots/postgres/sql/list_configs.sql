-- Caller: SlotConfigStore::list. Index: slot_config_active. Locks: none.
SELECT c.version, c.active, c.effective_from_us, c.document
  FROM penstock.slot_config c
 WHERE c.active AND c.name > $1::text
 ORDER BY c.name
 LIMIT $2::bigint
