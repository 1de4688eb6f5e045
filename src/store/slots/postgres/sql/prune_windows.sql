-- Caller: SlotRetention::prune. Index and locks: see the function.
SELECT penstock.prune_slot_windows($1::bigint, $2::bigint)
