-- Caller: PaymentStore::release. Index: payment_pkey, payment_change_pkey, and those of enqueue_items.
-- Locks: the payment, then its item. HELD -> SCHEDULED with the item. Answers -1 when it is done, -2 when
-- there is no such payment, -3 when there is an item of its name that somebody else brought, else the
-- status that forbids it.
CREATE FUNCTION release_payment(
  id text, due bigint, context bytea, digest bytea, now_us bigint, detail bytea) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment bigint := coalesce(now_us, epoch_us());
  held payment;
  newest payment_change;
  status integer;
BEGIN
  SELECT * INTO held FROM payment p WHERE p.payment_id = id FOR UPDATE;
  IF NOT FOUND THEN RETURN -2; END IF;
  SELECT * INTO newest FROM payment_change c
   WHERE c.payment_no = held.payment_no ORDER BY c.entry DESC LIMIT 1;
  status := coalesce(newest.status, held.first_status);
  IF status <> 4 THEN RETURN status; END IF;
  IF (SELECT e.known_place FROM enqueue_items(ARRAY['PAYMENT'], ARRAY[1], ARRAY[id], ARRAY[due],
                                              ARRAY[context], ARRAY[digest], '{}', false,
                                              moment) e) IS NOT NULL THEN
    RETURN -3;
  END IF;
  INSERT INTO payment_change (payment_no, at_us, entry, status, detail)
  VALUES (held.payment_no, moment, coalesce(newest.entry, 0) + 1, 0, release_payment.detail);
  RETURN -1;
END
$$;
