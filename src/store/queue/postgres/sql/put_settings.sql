-- Caller: ItemTypeStore::put, behind lock_settings in one transaction. Index: dispatch_settings_pkey.
-- Locks: the new row. $2 is the version that the settings were made from: nothing is written when
-- there is another by now. $3 null = database clock. Answers when it changed.
INSERT INTO penstock.dispatch_settings (item_type, version, changed_us, document)
SELECT $1::text, $2::bigint + 1, coalesce($3::bigint, penstock.epoch_us()), $4::text
 WHERE $2::bigint = coalesce((SELECT s.version FROM penstock.dispatch_settings s
                               WHERE s.item_type = $1::text ORDER BY s.version DESC LIMIT 1), 0)
RETURNING changed_us
