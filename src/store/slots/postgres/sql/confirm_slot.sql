-- Caller: SlotLife::confirm. Index and locks: see the function.
SELECT * FROM penstock.confirm_slot($1::text)
