-- Caller: LimitStore::apply, reset, PolicyStore. Index: none. Locks: none.
START TRANSACTION
