-- Caller: migrate. Index: PRIMARY of penstock_schema_version. Locks: the new row.
INSERT INTO penstock_schema_version (version, name) VALUES (?, ?)
