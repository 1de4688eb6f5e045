-- Caller: QuotaLedger::leave. Index: gateway_cache_node_pkey. Locks: the row.
DELETE FROM penstock.gateway_cache_node n WHERE n.node = $1::text
