-- Caller: inspect. Index: none. Locks: none.
SHOW GLOBAL STATUS LIKE 'Threads_connected'
