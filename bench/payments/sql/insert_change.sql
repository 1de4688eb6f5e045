-- Caller: the limit of bench/payments. Index: dispatch_change_type. Locks: its own row.
INSERT INTO penstock.dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
VALUES (1, $1::integer, 0, 0, 0, 0)
