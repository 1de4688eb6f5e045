-- Caller: inspect. Index: none. Locks: none. Works before the tables are there.
SELECT VERSION(), CURRENT_USER(), @@global.max_connections, @@global.innodb_flush_log_at_trx_commit,
       @@global.innodb_doublewrite, @@global.read_only,
       CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED), DATABASE()
