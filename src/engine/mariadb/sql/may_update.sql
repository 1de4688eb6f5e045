-- Caller: inspect. Index: none. Locks: none: what is explained is not done, and refused to who may not.
EXPLAIN UPDATE throttle_usage u, throttle_policy p, throttle_policy_revision r, node_alive n
   SET u.idle_at_us = u.idle_at_us, p.newest = p.newest, r.revision = r.revision, n.seen_at_us = n.seen_at_us
 WHERE FALSE
