-- Caller: SlotRetention::prune, LimitStore::apply, PolicyStore. Index: none. Locks: none.
ROLLBACK
