-- Caller: NodeRegistry::beat, behind beat_node. Index: PRIMARY of node_alive, which has a row per
-- node. Locks: rows of nodes that are gone. Parameters: for how long a beat counts, in microseconds.
DELETE FROM node_alive WHERE seen_at_us < CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) - ?
