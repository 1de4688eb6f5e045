-- Caller: the limit of bench/payments. Index: payment_pkey, payment_scheduled. Locks: its own rows.
INSERT INTO penstock.payment (payment_no, created_us, scheduled_us, first_status, payment_id, digest, body)
SELECT $1::bigint + n.place, $2::bigint, n.scheduled_us, 0, n.payment_id, n.digest, n.body
  FROM unnest($3::text[], $4::bigint[], $5::bytea[], $6::bytea[]) WITH ORDINALITY
       AS n(payment_id, scheduled_us, digest, body, place)
