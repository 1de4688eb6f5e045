-- Caller: QueueStore::cancel. Index: dispatch_item_pkey, dispatch_queue_pkey. Locks: the item's row in
-- the queue. Answers 0 no such item, 1 not READY, 2 cancelled.
CREATE FUNCTION cancel_item(type_name text, item text, now_us bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  type integer;
  due bigint;
  looked bigint;
  place dispatch_queue;
BEGIN
  SELECT t.type_id INTO type FROM dispatch_type t WHERE t.name = type_name;
  LOOP
    SELECT i.due_us INTO due FROM dispatch_item i WHERE i.type_id = type AND i.item_id = item;
    IF NOT FOUND THEN RETURN 0; END IF;
    SELECT * INTO place FROM dispatch_queue q
     WHERE q.type_id = type AND q.due_us = due AND q.item_id = item FOR UPDATE;
    EXIT WHEN FOUND;
    -- Twice not in the queue, and it has not moved between: it is settled.
    IF due = looked THEN RETURN 1; END IF;
    looked := due;
  END LOOP;
  IF place.batch <> 0 THEN RETURN 1; END IF;
  DELETE FROM dispatch_queue q WHERE q.type_id = type AND q.due_us = due AND q.item_id = item;
  INSERT INTO dispatch_audit (item_no, at_us, entry, attempts, retry_count, action)
  VALUES (place.item_no, coalesce(now_us, epoch_us()), place.entries + 1, place.attempts,
          place.retry_count, 6);
  INSERT INTO dispatch_settled (settled_us, type_id, items)
  VALUES (coalesce(now_us, epoch_us()), type, ARRAY[item]);
  INSERT INTO dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
  VALUES (type, -1, 0, 0, 0, 1);
  RETURN 2;
END
$$;
