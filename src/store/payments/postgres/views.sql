-- Caller: people. Index: none of their own. Locks: none. The tables with names and timestamps.
CREATE VIEW payment_readable AS
  SELECT p.payment_id, to_timestamp(p.created_us / 1e6) AS created,
         to_timestamp(p.scheduled_us / 1e6) AS scheduled,
         (ARRAY['SCHEDULED', 'ACCEPTED', 'PROCESSING', 'REJECTED', 'HELD', 'FAILED'])
           [1 + CASE WHEN s.status = 0 AND s.item IN (3, 4) THEN 5 ELSE s.status END] AS status,
         (ARRAY['READY', 'CLAIMED', 'DISPATCHED', 'DEAD', 'CANCELLED'])[1 + s.item] AS queue_status,
         convert_from(p.reason, 'UTF8') AS reason, convert_from(p.body, 'UTF8') AS body
    FROM payment p
   CROSS JOIN LATERAL (
     SELECT payment_status(p.payment_no, p.first_status) AS status,
            (SELECT item_state(i.type_id, i.due_us, i.item_id, i.item_no) FROM dispatch_item i
              WHERE i.type_id = payment_type() AND i.item_id = p.payment_id) AS item) s;
