-- Caller: SlotLife::confirm. Index and locks: see the function (migrations/0015_slot_life.sql).
SELECT * FROM penstock.confirm_slot($1::text)
