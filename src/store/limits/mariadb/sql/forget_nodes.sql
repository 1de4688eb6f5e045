-- Caller: NodeRegistry::beat, behind beat_node. Index: PRIMARY of node_alive, which has a row per
-- node. Locks: rows of nodes that are gone. Parameters: for how long a beat counts, in microseconds;
-- the node that beats, which is alive however long its own beat took to become durable.
DELETE FROM node_alive
 WHERE seen_at_us < CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) - ? AND node <> ?
