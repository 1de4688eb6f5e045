-- Caller: LimitStore, PolicyStore, behind the statement that took the locks: the time when they were
-- had. Index: none. Locks: none.
SELECT penstock.epoch_us()
