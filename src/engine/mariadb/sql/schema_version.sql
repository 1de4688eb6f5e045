-- Caller: check_version, migrate. Index: PRIMARY of penstock_schema_version. Locks: none.
SELECT COALESCE(MAX(v.version), 0) FROM penstock_schema_version v
