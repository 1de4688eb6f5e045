-- Caller: Connection::open. Index: none. Locks: none.
-- A statement sees what was committed before it began, and no gaps between keys are locked.
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
