-- Caller: ChangeFeed::flush_everywhere. Index: none. Locks: that of all NOTIFY, for one commit.
-- An empty name means all configs.
SELECT pg_notify('penstock_slot_config', $1::text)
