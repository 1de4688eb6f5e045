-- Caller: NodeRegistry::beat. Index: node_alive_pkey. Locks: the node's own row first, which may be
-- waited for, then rows of nodes that are gone unless somebody else holds them. Whoever waits thus
-- holds nothing, and no two nodes can wait for each other. `gone` reads `beat` to keep that order:
-- data-modifying parts of a statement run in any order otherwise. $1 node, $2 for how long a beat
-- counts, in microseconds. Answers how many nodes are alive, this one included.
WITH time AS MATERIALIZED (SELECT penstock.epoch_us() AS now_us),
beat AS (
  INSERT INTO penstock.node_alive AS n (node, seen_at_us)
  SELECT $1::text, t.now_us FROM time t
      ON CONFLICT (node) DO UPDATE SET seen_at_us = greatest(n.seen_at_us, excluded.seen_at_us)
  RETURNING n.node),
gone AS MATERIALIZED (
  SELECT n.node FROM penstock.node_alive n
   WHERE n.node <> (SELECT b.node FROM beat b)
     AND n.seen_at_us < (SELECT t.now_us - $2::bigint FROM time t)
     FOR UPDATE SKIP LOCKED),
forgotten AS (
  DELETE FROM penstock.node_alive n WHERE n.node = ANY (ARRAY (SELECT g.node FROM gone g)))
SELECT 1 + count(*) FROM penstock.node_alive n
 WHERE n.node <> $1::text AND n.seen_at_us >= (SELECT t.now_us - $2::bigint FROM time t)
