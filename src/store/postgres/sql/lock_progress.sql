-- Caller: RetentionClock::older_than, in a transaction. Index: none, there is one row. Locks: the row.
SELECT p.walls_us, p.progress_us, penstock.epoch_us() FROM penstock.retention_progress p FOR UPDATE
