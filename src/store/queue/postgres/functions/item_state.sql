-- Caller: functions and statements of this schema. Index: dispatch_queue_pkey, dispatch_audit_pkey.
-- Locks: none. The state of an item as ItemState numbers it; null when it moved while we looked.
CREATE FUNCTION item_state(of_type integer, due bigint, item text, number bigint) RETURNS integer
LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT CASE WHEN q.batch = 0 THEN 0 ELSE 1 END FROM penstock.dispatch_queue q
      WHERE q.type_id = of_type AND q.due_us = due AND q.item_id = item),
    (SELECT CASE a.action WHEN 2 THEN 2 WHEN 5 THEN 3 WHEN 8 THEN 3 WHEN 6 THEN 4 END
       FROM penstock.dispatch_audit a
      WHERE a.item_no = number ORDER BY a.entry DESC LIMIT 1))
$$;
