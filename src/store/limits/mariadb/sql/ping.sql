-- Caller: StoreHealth::check. Index: none. Locks: none.
SELECT 1
