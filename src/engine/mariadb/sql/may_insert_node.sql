-- Caller: inspect. Index: none. Locks: none: what is explained is not done, and refused to who may not.
EXPLAIN INSERT INTO node_alive (node, seen_at_us) VALUES ('', 0)
