-- Caller: Connection::open. Index: none. Locks: none. Parameters: most seconds of a statement, most
-- seconds that a transaction may lie idle. MySQL has neither of the two and skips what stands in /*M!.
-- It also takes whole seconds only for a lock; what is shorter ends by the time of the statement.
-- A list of any length stays a list (in_predicate_…), so that it is walked in the order of the index.
SET SESSION time_zone = '+00:00', SESSION autocommit = 1,
    SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
    SESSION innodb_lock_wait_timeout = ?
    /*M!100309 , SESSION max_statement_time = ?, SESSION idle_transaction_timeout = ?,
    SESSION in_predicate_conversion_threshold = 0 */
