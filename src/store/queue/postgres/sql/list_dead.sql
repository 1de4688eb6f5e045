-- Caller: QueueStore::dead. Index: dispatch_type_name, dispatch_dead_time, dispatch_item_pkey,
-- dispatch_audit_pkey. Locks: none. Newest first, from behind the place ($2, $3) on.
SELECT d.item_id, d.died_us, i.scheduled_us, last.attempts, error.detail
  FROM (SELECT m.* FROM penstock.dispatch_dead m
          JOIN penstock.dispatch_type t ON t.type_id = m.type_id AND t.name = $1::text
         WHERE m.died_us <= $2::bigint AND (m.died_us < $2::bigint OR m.item_id > $3::text)
         ORDER BY m.died_us DESC, m.item_id LIMIT $4::bigint) d
  JOIN penstock.dispatch_item i ON i.type_id = d.type_id AND i.item_id = d.item_id
 CROSS JOIN LATERAL (SELECT a.attempts FROM penstock.dispatch_audit a
                      WHERE a.item_no = i.item_no ORDER BY a.entry DESC LIMIT 1) last
  LEFT JOIN LATERAL (SELECT a.detail FROM penstock.dispatch_audit a
                      WHERE a.item_no = i.item_no AND a.action IN (3, 5)
                      ORDER BY a.entry DESC LIMIT 1) error ON true
 ORDER BY d.died_us DESC, d.item_id
