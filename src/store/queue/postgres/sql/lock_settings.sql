-- Caller: ItemTypeStore::put, before put_settings. Index: dispatch_settings_revision_pkey. Locks: the one
-- row that every change of settings locks first.
UPDATE penstock.dispatch_settings_revision r SET revision = r.revision + 1 WHERE r.one
