-- Caller: inspect. Index: none. Locks: none: what is explained is not done, and refused to who may not.
EXPLAIN SELECT u.idle_at_us, p.version, r.revision, n.seen_at_us
  FROM throttle_usage u, throttle_policy p, throttle_policy_revision r, node_alive n WHERE FALSE
