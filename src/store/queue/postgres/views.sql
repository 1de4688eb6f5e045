-- Caller: people. Index: none of their own. Locks: none. The tables with names and timestamps.
CREATE VIEW dispatch_item_readable AS
  SELECT t.name AS item_type, i.item_id,
         CASE WHEN q.batch = 0 THEN 'READY' WHEN q.batch > 0 THEN 'CLAIMED'
              WHEN a.action = 2 THEN 'DISPATCHED' WHEN a.action = 6 THEN 'CANCELLED'
              ELSE 'DEAD' END AS state,
         to_timestamp(i.scheduled_us / 1e6) AS scheduled, to_timestamp(q.due_us / 1e6) AS due,
         to_timestamp(i.created_us / 1e6) AS created,
         coalesce(q.attempts, a.attempts) AS attempts,
         coalesce(q.retry_count, a.retry_count) AS retry_count,
         to_timestamp(a.at_us / 1e6) AS last_change,
         convert_from(i.context, 'UTF8') AS context
    FROM dispatch_item i JOIN dispatch_type t ON t.type_id = i.type_id
    LEFT JOIN dispatch_queue q
      ON q.type_id = i.type_id AND q.due_us = i.due_us AND q.item_id = i.item_id
    LEFT JOIN LATERAL (SELECT * FROM dispatch_audit d
                        WHERE d.item_no = i.item_no
                        ORDER BY d.entry DESC LIMIT 1) a ON true;
CREATE VIEW dispatch_audit_readable AS
  SELECT t.name AS item_type, i.item_id, a.entry,
         (ARRAY['CLAIMED', 'DISPATCHED', 'DISPATCH_FAILED', 'RETURNED', 'DEAD', 'CANCELLED', 'REDRIVEN',
                'DEAD'])[a.action] AS action,
         to_timestamp(a.claimed_us / 1e6) AS claimed, to_timestamp(a.at_us / 1e6) AS at,
         'b' || a.claim_batch AS claim_batch, a.batch, encode(a.detail, 'escape') AS detail
    FROM dispatch_item i JOIN dispatch_type t ON t.type_id = i.type_id
    JOIN dispatch_audit a ON a.item_no = i.item_no;
