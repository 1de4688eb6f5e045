-- Caller: NodeRegistry::beat. Index: PRIMARY of node_alive. Locks: the node's own row.
INSERT INTO node_alive (node, seen_at_us) VALUES (?, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))
    ON DUPLICATE KEY UPDATE seen_at_us = GREATEST(seen_at_us, VALUES(seen_at_us))
