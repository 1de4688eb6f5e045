-- Caller: ItemTypeStore::revision. Index: dispatch_settings_revision_pkey. Locks: none.
SELECT r.revision FROM penstock.dispatch_settings_revision r WHERE r.one
