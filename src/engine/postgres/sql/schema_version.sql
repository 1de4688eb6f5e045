-- Caller: check_version, migrate. Index: schema_version_pkey. Locks: none.
SELECT coalesce(max(v.version), 0) FROM penstock.schema_version v
