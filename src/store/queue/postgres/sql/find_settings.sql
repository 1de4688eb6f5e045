-- Caller: ItemTypeStore::find and history. Index: dispatch_settings_pkey. Locks: none. Newest first.
SELECT s.item_type, s.version, s.changed_us, s.document
  FROM penstock.dispatch_settings s
 WHERE s.item_type = $1::text
 ORDER BY s.version DESC
 LIMIT $2::bigint
