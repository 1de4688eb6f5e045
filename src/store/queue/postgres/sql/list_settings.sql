-- Caller: ItemTypeStore::list. Index: dispatch_settings_pkey, all of it. Locks: none.
SELECT DISTINCT ON (s.item_type) s.item_type, s.version, s.changed_us, s.document
  FROM penstock.dispatch_settings s
 ORDER BY s.item_type, s.version DESC
