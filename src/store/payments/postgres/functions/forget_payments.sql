-- Caller: PaymentStore::forget. Index: payment_scheduled, payment_pkey, payment_change_pkey,
-- dispatch_item_pkey. Locks: payments that nobody else holds; it waits for none.
-- Looks at up to `most` payments behind (from_us, from_id) that were scheduled before `before_us`, and
-- takes out those that are not HELD and have no item. `next_id` is null when there is nothing more.
CREATE FUNCTION forget_payments(
  IN before_us bigint, IN from_us bigint, IN from_id text, IN most bigint,
  OUT gone bigint, OUT next_us bigint, OUT next_id text)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  type integer := payment_type();
  looked text[];
  old text[];
  numbers bigint[];
BEGIN
  gone := 0;
  SELECT array_agg(l.payment_id), max(l.scheduled_us) INTO looked, next_us
    FROM (SELECT p.payment_id, p.scheduled_us FROM payment p
           WHERE (p.scheduled_us, p.payment_id) > (from_us, from_id) AND p.scheduled_us < before_us
           ORDER BY p.scheduled_us, p.payment_id LIMIT most) l;
  IF cardinality(looked) = most THEN next_id := looked[most]; END IF;
  SELECT array_agg(h.payment_id), array_agg(h.payment_no) INTO old, numbers
    FROM (SELECT p.payment_id, p.payment_no FROM payment p
           WHERE p.payment_id = ANY (looked)
             AND payment_status(p.payment_no, p.first_status) <> 4
             AND NOT EXISTS (SELECT FROM dispatch_item i
                              WHERE i.type_id = type AND i.item_id = p.payment_id)
             FOR UPDATE SKIP LOCKED) h;
  IF old IS NULL THEN RETURN; END IF;
  DELETE FROM payment_change c WHERE c.payment_no = ANY (numbers);
  DELETE FROM payment p WHERE p.payment_id = ANY (old);
  gone := cardinality(old);
END
$$;
