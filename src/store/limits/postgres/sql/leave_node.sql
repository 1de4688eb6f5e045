-- Caller: NodeRegistry::leave. Index: node_alive_pkey. Locks: the row.
DELETE FROM penstock.node_alive n WHERE n.node = $1::text
