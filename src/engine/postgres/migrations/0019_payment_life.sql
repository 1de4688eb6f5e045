-- Caller: PaymentStore::advance. Index: payment_pkey, payment_change_pkey. Locks: the payments in the
-- order of their ids; `ids` holds each once.
-- Moves payments as core::may_report allows. Results: 0 moved, 1 it was there, 2 it cannot go there, 3
-- there is no such payment; and the statuses afterwards.
CREATE FUNCTION advance_payments(
  IN ids text[], IN targets integer[], IN details bytea[], IN now_us bigint,
  OUT results integer[], OUT statuses integer[])
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  moment bigint := coalesce(now_us, epoch_us());
BEGIN
  PERFORM FROM payment p WHERE p.payment_id = ANY (ids) ORDER BY p.payment_id FOR UPDATE;
  -- Its own snapshot: what others wrote before they let go of the locks is there.
  WITH asked AS (
    SELECT n.target, n.detail, n.place, p.payment_no, coalesce(c.entry, 0) AS entry,
           coalesce(c.status, p.first_status)::integer AS status
      FROM unnest(ids, targets, details) WITH ORDINALITY AS n(payment_id, target, detail, place)
      LEFT JOIN LATERAL (SELECT * FROM payment t WHERE t.payment_id = n.payment_id LIMIT 1) p ON true
      LEFT JOIN LATERAL (SELECT * FROM payment_change t WHERE t.payment_no = p.payment_no
                          ORDER BY t.entry DESC LIMIT 1) c ON true),
  judged AS (
    SELECT a.*, CASE WHEN a.payment_no IS NULL THEN 3
                     WHEN a.status = a.target THEN 1
                     WHEN a.status = 0 AND a.target IN (1, 5) THEN 0
                     WHEN a.status = 1 AND a.target IN (2, 5) THEN 0
                     ELSE 2 END AS result
      FROM asked a),
  written AS (
    INSERT INTO payment_change (payment_no, at_us, entry, status, detail)
    SELECT j.payment_no, moment, j.entry + 1, j.target, nullif(j.detail, '')
      FROM judged j WHERE j.result = 0)
  SELECT array_agg(j.result ORDER BY j.place),
         array_agg(CASE WHEN j.result = 0 THEN j.target ELSE coalesce(j.status, 0) END
                   ORDER BY j.place)
    INTO results, statuses FROM judged j;
END
$$;

-- Caller: PaymentStore::release. Index: payment_pkey, payment_change_pkey, and those of enqueue_items.
-- Locks: the payment, then its item. HELD -> SCHEDULED with the item. Answers -1 when it is done, -2 when
-- there is no such payment, -3 when there is an item of its name that somebody else brought, else the
-- status that forbids it.
CREATE FUNCTION release_payment(
  id text, due bigint, context bytea, digest bytea, now_us bigint) RETURNS integer
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
  VALUES (held.payment_no, moment, coalesce(newest.entry, 0) + 1, 0, 'released');
  RETURN -1;
END
$$;

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
