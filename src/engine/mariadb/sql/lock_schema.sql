-- Caller: migrate. Index: none. Locks: a named lock of the server, so that one migration of this
-- database runs at a time. It goes with the connection.
SELECT GET_LOCK(CONCAT('penstock ', MD5(DATABASE())), ?)
