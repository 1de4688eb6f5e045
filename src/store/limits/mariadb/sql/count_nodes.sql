-- Caller: NodeRegistry::beat, behind forget_nodes. Index: PRIMARY of node_alive. Locks: none.
SELECT COUNT(*) FROM node_alive
