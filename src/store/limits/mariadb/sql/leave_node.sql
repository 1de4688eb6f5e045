-- Caller: NodeRegistry::leave. Index: PRIMARY of node_alive. Locks: the row.
DELETE FROM node_alive WHERE node = ?
