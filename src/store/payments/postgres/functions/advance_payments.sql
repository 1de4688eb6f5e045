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
