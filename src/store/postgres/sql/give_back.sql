-- Caller: the change listener, once a second, as its sign of life too. Index and locks: see the
-- function.
SELECT penstock.give_back_abandoned()
