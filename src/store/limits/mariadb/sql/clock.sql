-- Caller: LimitStore, PolicyStore, behind the statement that took the locks: the time when they were
-- had. Index: none. Locks: none.
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)
