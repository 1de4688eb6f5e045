-- Caller: RetentionClock::older_than, behind lock_progress.sql. Index: none, there is one row. Locks: the row.
UPDATE penstock.retention_progress SET walls_us = $1::bigint[], progress_us = $2::bigint[]
