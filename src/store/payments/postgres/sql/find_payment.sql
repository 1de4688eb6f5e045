-- Caller: PaymentStore::find. Index: payment_pkey, payment_change_pkey. Locks: none. One row for each
-- change, oldest first, or one with nulls.
SELECT p.first_status, p.created_us, p.scheduled_us, p.reason, p.body, c.at_us, c.status, c.detail
  FROM penstock.payment p
  LEFT JOIN penstock.payment_change c ON c.payment_no = p.payment_no
 WHERE p.payment_id = $1::text
 ORDER BY c.entry
