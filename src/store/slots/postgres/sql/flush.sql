-- Caller: SlotStore::assign, behind each batch, and SlotLife. Index: none. Locks: none.
-- A commit that waits for the disk (and for synchronous standbys), and with it for every commit
-- before it: what the batch wrote, and what it saw of others, is durable when this returns.
-- Frees the session's locks on pools, of which the batch leaves none unless it was cancelled.
SELECT pg_logical_emit_message(true, 'penstock', ''), pg_advisory_unlock_all()
