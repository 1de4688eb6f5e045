-- Caller: the change listener, once a second. Index and locks: see the function.
SELECT penstock.fold_counts()
