-- Caller: LimitStore::apply, a transaction of its own before the rows are locked. Index: PRIMARY of
-- throttle_usage. Locks: its rows, in ascending order of their keys (the list is sorted): two
-- inserters of the same keys never wait for each other in a circle. The rows are idle, and may be swept
-- away, a minute from now: long after they were locked. Parameters: key, time (null = database clock).
INSERT IGNORE INTO throttle_usage (throttle_key, record, idle_at_us) VALUES
  (?, '', COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)) + 60000000)
