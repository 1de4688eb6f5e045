-- Caller: QueueStore::find, cancel, redrive. Index: dispatch_type_name, dispatch_item_pkey,
-- dispatch_queue_pkey, dispatch_audit_pkey. Locks: none. One row for each row of the audit, oldest first,
-- or one with nulls. The columns of the queue are null when the item is settled.
SELECT i.scheduled_us, i.created_us, q.batch, q.claimed_us, q.retry_count, q.attempts,
       a.action, a.at_us, a.claimed_us, a.claim_batch, a.batch, a.detail, a.retry_count, a.attempts,
       i.due_us
  FROM penstock.dispatch_type t
  JOIN penstock.dispatch_item i ON i.type_id = t.type_id AND i.item_id = $2::text
  LEFT JOIN penstock.dispatch_queue q
    ON q.type_id = t.type_id AND q.due_us = i.due_us AND q.item_id = i.item_id
  LEFT JOIN penstock.dispatch_audit a ON a.item_no = i.item_no
 WHERE t.name = $1::text
 ORDER BY a.entry
