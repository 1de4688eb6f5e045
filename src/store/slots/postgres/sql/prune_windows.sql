-- Caller: SlotRetention::prune. Index and locks: see the function
-- (migrations/0006_prune_slot_windows.sql).
SELECT penstock.prune_slot_windows($1::bigint, $2::bigint)
