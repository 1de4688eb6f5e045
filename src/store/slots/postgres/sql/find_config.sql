-- Caller: SlotConfigStore::find. Index: slot_config_active. Locks: none.
SELECT c.version, c.active, c.effective_from_us, c.document
  FROM penstock.slot_config c
 WHERE c.name = $1::text AND c.active
