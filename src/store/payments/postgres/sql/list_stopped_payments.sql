-- Caller: PaymentStore::list. Index: payment_stopped, payment_change_pkey, dispatch_item_pkey,
-- dispatch_queue_pkey, dispatch_audit_pkey. Locks: none. A status that payments begin with: those a rule stopped.
-- Those behind $2 that show the status $1 (null = all), up to $3, out of $4 that are looked at. The last
-- that may be looked at is there whatever it shows: column 6 says whether it counts, column 7 which
-- it is of those looked at.
SELECT s.payment_id, s.status, s.item, s.scheduled_us, s.reason, s.counts, s.place
  FROM (SELECT t.*, $1::bigint IS NULL OR $1::bigint =
                 CASE WHEN t.status = 0 AND t.item IN (3, 4) THEN 5 ELSE t.status END AS counts
          FROM (SELECT l.payment_id, penstock.payment_status(l.payment_no, l.first_status) AS status,
                       (SELECT coalesce(penstock.item_state(i.type_id, i.due_us, i.item_id,
                                                            i.item_no), 0)
                          FROM penstock.dispatch_item i
                         WHERE i.type_id = penstock.payment_type()
                           AND i.item_id = l.payment_id) AS item,
                       l.scheduled_us, l.reason, row_number() OVER (ORDER BY l.payment_id) AS place
                  FROM (SELECT * FROM penstock.payment p
                         WHERE p.first_status = $1::bigint AND p.payment_id > $2::text
                         ORDER BY p.payment_id LIMIT $4::bigint) l) t) s
 WHERE s.counts OR s.place = $4::bigint
 ORDER BY s.payment_id LIMIT $3::bigint
