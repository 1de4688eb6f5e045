-- Caller: inspect. Index: none. Locks: none: what is explained is not done, and refused to who may not.
EXPLAIN DELETE u, n FROM throttle_usage u, node_alive n WHERE FALSE
