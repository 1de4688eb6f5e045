-- Caller: the change listener, once a second. Index and locks: see the function
-- (migrations/0012_forget_items.sql).
SELECT penstock.fold_counts()
