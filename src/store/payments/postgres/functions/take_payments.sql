-- Caller: PaymentStore::take. Index: payment_pkey, and those of enqueue_items. Locks: the new payments in
-- the order of the arrays, ascending by id, then their items in the same order, so that inserters of
-- the same payments never wait for each other in a circle.
-- Writes the payments that are new and, for those that are SCHEDULED, their items. `trusted`: all are
-- new, as most payments are, and not looking is cheaper; when one is not, the batch is refused (see
-- worth_repeating()).
-- Answers, for each payment that was there, its place in the arrays, digest, status, state of its item
-- (-1 = it has none), time and reason; null when all were new. `foreign_place`: payments that were not
-- written, since there is an item of their name that somebody else brought.
CREATE FUNCTION take_payments(
  IN ids text[], IN statuses integer[], IN scheduled bigint[], IN reasons bytea[],
  IN digests bytea[], IN bodies bytea[], IN contexts bytea[], IN trusted boolean, IN now_us bigint,
  OUT known_place integer[], OUT known_digest bytea[], OUT known_status integer[],
  OUT known_item integer[], OUT known_scheduled bigint[], OUT known_reason bytea[],
  OUT foreign_place integer[])
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  created bigint := coalesce(now_us, epoch_us());
  -- Room for a million payments of one batch.
  first_no bigint := nextval('payment_no') << 20;
  fresh integer[];       -- places of those that are new
  item_place integer[];  -- of those that get an item
  item_ids text[];
  item_due bigint[];
  item_contexts bytea[];
  item_digests bytea[];
  met integer[];         -- places among the items that were there
BEGIN
  IF trusted THEN
    INSERT INTO payment (payment_no, created_us, scheduled_us, first_status, payment_id, digest,
                         body, reason)
    SELECT first_no + n.place, created, n.scheduled_us, n.status, n.payment_id, n.digest, n.body,
           nullif(n.reason, '')
      FROM unnest(ids, statuses, scheduled, reasons, digests, bodies) WITH ORDINALITY
           AS n(payment_id, status, scheduled_us, reason, digest, body, place);
    IF 0 = ALL (statuses) THEN
      PERFORM enqueue_items(ARRAY['PAYMENT'], array_fill(1, ARRAY[cardinality(ids)]), ids, scheduled,
                            contexts, digests, '{}', true, created);
      RETURN;
    END IF;
  ELSE
    WITH written AS (
      INSERT INTO payment (payment_no, created_us, scheduled_us, first_status, payment_id, digest,
                           body, reason)
      SELECT first_no + n.place, created, n.scheduled_us, n.status, n.payment_id, n.digest, n.body,
             nullif(n.reason, '')
        FROM unnest(ids, statuses, scheduled, reasons, digests, bodies) WITH ORDINALITY
             AS n(payment_id, status, scheduled_us, reason, digest, body, place)
          ON CONFLICT (payment_id) DO NOTHING
      RETURNING payment_no)
    SELECT coalesce(array_agg((w.payment_no - first_no)::integer), '{}') INTO fresh FROM written w;
  END IF;

  SELECT array_agg(n.place::integer ORDER BY n.place), array_agg(n.payment_id ORDER BY n.place),
         array_agg(n.scheduled_us ORDER BY n.place), array_agg(n.context ORDER BY n.place),
         array_agg(n.digest ORDER BY n.place)
    INTO item_place, item_ids, item_due, item_contexts, item_digests
    FROM unnest(ids, statuses, scheduled, digests, contexts) WITH ORDINALITY
         AS n(payment_id, status, scheduled_us, digest, context, place)
   WHERE n.status = 0 AND (trusted OR n.place = ANY (fresh));
  IF item_place IS NOT NULL THEN
    SELECT e.known_place INTO met
      FROM enqueue_items(ARRAY['PAYMENT'], array_fill(1, ARRAY[cardinality(item_ids)]), item_ids,
                         item_due, item_contexts, item_digests, '{}', trusted, created) e;
    IF met IS NOT NULL THEN
      SELECT array_agg(item_place[m.place]) INTO foreign_place FROM unnest(met) AS m(place);
      DELETE FROM payment p
       WHERE p.payment_id = ANY (SELECT ids[f.place] FROM unnest(foreign_place) AS f(place));
    END IF;
  END IF;
  IF trusted OR cardinality(fresh) = cardinality(ids) THEN
    RETURN;
  END IF;

  SELECT array_agg(k.place), array_agg(k.digest), array_agg(k.status), array_agg(k.item),
         array_agg(k.scheduled_us), array_agg(k.reason)
    INTO known_place, known_digest, known_status, known_item, known_scheduled, known_reason
    FROM (SELECT n.place::integer AS place, p.digest,
                 payment_status(p.payment_no, p.first_status) AS status,
                 CASE WHEN i.item_id IS NULL THEN -1
                      ELSE coalesce(item_state(i.type_id, i.due_us, i.item_id, i.item_no), 0)
                 END AS item,
                 coalesce(i.scheduled_us, p.scheduled_us) AS scheduled_us,
                 coalesce(p.reason, '') AS reason
            FROM unnest(ids) WITH ORDINALITY AS n(payment_id, place)
           CROSS JOIN LATERAL (SELECT * FROM payment t WHERE t.payment_id = n.payment_id LIMIT 1) p
            LEFT JOIN LATERAL (SELECT * FROM dispatch_item t
                                WHERE t.type_id = payment_type() AND t.item_id = n.payment_id
                                LIMIT 1) i ON true
           WHERE p.payment_no NOT BETWEEN first_no AND first_no + cardinality(ids)
           ORDER BY n.place) k;
  -- Fewer: one was forgotten between the two statements. Then it is new the next time.
  IF cardinality(fresh) + coalesce(cardinality(known_place), 0) <> cardinality(ids) THEN
    RAISE EXCEPTION 'a payment went meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
END
$$;
