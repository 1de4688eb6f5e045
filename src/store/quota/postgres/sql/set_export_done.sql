-- Caller: UsageExport::set_done_to. Index: gateway_export_pkey. Locks: the row.
UPDATE penstock.gateway_export e SET done_to_us = $3::bigint
 WHERE e.name = $1::text AND e.node = $2::text
RETURNING 1
