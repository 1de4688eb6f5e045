-- Caller: QueueStore::redrive. Index: dispatch_item_pkey, dispatch_audit_pkey, dispatch_queue_pkey.
-- Locks: the item. Answers 0 no such item, 1 not DEAD, 2 READY again; and when it is due.
CREATE FUNCTION redrive_item(IN type_name text, IN item text, IN now_us bigint,
                             OUT outcome integer, OUT due_us bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  type integer;
  moment bigint := coalesce(now_us, epoch_us());
  stood dispatch_item;
  last dispatch_audit;
BEGIN
  SELECT t.type_id INTO type FROM dispatch_type t WHERE t.name = type_name;
  SELECT * INTO stood FROM dispatch_item i
   WHERE i.type_id = type AND i.item_id = item FOR UPDATE;
  outcome := CASE WHEN FOUND THEN 1 ELSE 0 END;
  IF item_state(type, stood.due_us, item, stood.item_no) IS DISTINCT FROM 3 THEN RETURN; END IF;
  SELECT * INTO last FROM dispatch_audit a
   WHERE a.item_no = stood.item_no ORDER BY a.entry DESC LIMIT 1;
  INSERT INTO dispatch_audit (item_no, at_us, entry, attempts, retry_count, action)
  VALUES (stood.item_no, moment, last.entry + 1, last.attempts, 0, 7);
  INSERT INTO dispatch_queue (item_no, due_us, type_id, attempts, entries, item_id)
  VALUES (stood.item_no, moment, type, last.attempts, last.entry + 1, item);
  DELETE FROM dispatch_dead d WHERE d.type_id = type AND d.item_id = item;
  UPDATE dispatch_item i SET due_us = moment WHERE i.type_id = type AND i.item_id = item;
  INSERT INTO dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
  VALUES (type, 1, 0, 0, -1, 0);
  outcome := 2;
  due_us := moment;
END
$$;
