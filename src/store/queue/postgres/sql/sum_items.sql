-- Caller: QueueStore::summary. Index: dispatch_type_name, dispatch_total_pkey, dispatch_change_type,
-- dispatch_queue_pkey. Locks: none. $2, $3: where the first READY item may stand.
SELECT (coalesce(s.ready, 0) + c.ready)::bigint, (coalesce(s.claimed, 0) + c.claimed)::bigint,
       (coalesce(s.dispatched, 0) + c.dispatched)::bigint, (coalesce(s.dead, 0) + c.dead)::bigint,
       (coalesce(s.cancelled, 0) + c.cancelled)::bigint,
       (SELECT q.due_us FROM penstock.dispatch_queue q
         WHERE q.type_id = t.type_id AND (q.due_us, q.item_id) >= ($2::bigint, $3::text)
           AND q.batch = 0
         ORDER BY q.due_us, q.item_id LIMIT 1)
  FROM penstock.dispatch_type t
  LEFT JOIN penstock.dispatch_total s ON s.type_id = t.type_id
 CROSS JOIN LATERAL (
       SELECT coalesce(sum(d.ready), 0) AS ready, coalesce(sum(d.claimed), 0) AS claimed,
              coalesce(sum(d.dispatched), 0) AS dispatched, coalesce(sum(d.dead), 0) AS dead,
              coalesce(sum(d.cancelled), 0) AS cancelled
         FROM penstock.dispatch_change d
        WHERE d.type_id = t.type_id AND d.written >= penstock.changes_from(t.type_id)) c
 WHERE t.name = $1::text
