-- Caller: QueueStore::settle. Index: dispatch_item_pkey (where an item stands), dispatch_queue_pkey,
-- dispatch_audit_pkey. Locks: the rows of the queue in the order of `items`, which is ascending.
-- Moves the items that this token holds, and answers their places in the arrays. Outcomes are numbered
-- as Outcome is: 0 done, 1 failed, 2 refused, 3 given back. Every one takes the row out of the queue;
-- what goes back gets a new one, and what dies is noted in dispatch_dead.
-- The type stands in the subquery, so that the queue can only be reached by whole keys: with the
-- type as a condition of its own, a plan made while the queue was small reads all of the type's rows,
-- and the subquery once for each of them.
-- For the usual call, where all of one batch are done, the caller gives the number of the batch
-- (else null) and what it knows of where the items stand (0 = nothing): that spares a look at each
-- item. Of such a call outcomes, not_before_us and batches are empty.
CREATE FUNCTION settle_items(
  type_name text, held_token bigint, retries_max integer, items text[], details bytea[],
  done_batch bigint, stand_us bigint[], outcomes integer[], not_before_us bigint[], batches text[],
  now_us bigint)
RETURNS integer[]
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  type integer := (dispatch_types(ARRAY[type_name]))[1];
  moment bigint := coalesce(now_us, epoch_us());
  moved integer[];
  settled text[];
  done integer;
  dead integer;
BEGIN
  IF done_batch IS NOT NULL THEN
    WITH gone AS (
      DELETE FROM dispatch_queue q
       USING (SELECT type AS type_id, s.item_id, s.detail, s.place,
                     coalesce(nullif(s.stand_us, 0), (SELECT t.due_us FROM dispatch_item t
                                                       WHERE t.type_id = type
                                                         AND t.item_id = s.item_id)) AS due_us
                FROM unnest(items, details, stand_us) WITH ORDINALITY
                     AS s(item_id, detail, stand_us, place)
               OFFSET 0) s
       WHERE q.type_id = s.type_id AND q.due_us = s.due_us AND q.item_id = s.item_id
         AND q.token = held_token AND q.batch <> 0
      RETURNING s.place::integer AS place, s.detail, q.*),
    noted AS (
      INSERT INTO dispatch_audit (item_no, at_us, claimed_us, claim_batch, entry, attempts,
                                  retry_count, action, batch, detail)
      SELECT g.item_no, moment, g.claimed_us, g.batch, g.entries + 1, g.attempts, g.retry_count, 2,
             CASE WHEN g.batch <> done_batch THEN 'b' || done_batch END, nullif(g.detail, '')
        FROM gone g)
    SELECT array_agg(g.place), array_agg(g.item_id) INTO moved, settled FROM gone g;
    done := coalesce(cardinality(moved), 0);
    dead := 0;
  ELSE
    WITH gone AS (
      DELETE FROM dispatch_queue q
       USING (SELECT type AS type_id, s.*, i.due_us, i.scheduled_us
                FROM unnest(items, details, batches, outcomes, not_before_us) WITH ORDINALITY
                     AS s(item_id, detail, batch, outcome, not_before_us, place)
               CROSS JOIN LATERAL (SELECT t.due_us, t.scheduled_us FROM dispatch_item t
                                    WHERE t.type_id = type AND t.item_id = s.item_id LIMIT 1) i
               OFFSET 0) s
       WHERE q.type_id = s.type_id AND q.due_us = s.due_us AND q.item_id = s.item_id
         AND q.token = held_token AND q.batch <> 0
      RETURNING s.place::integer AS place, s.detail, s.batch AS settle_batch, q.*,
                -- core::after_outcome
                q.attempts - (s.outcome = 3)::integer AS attempts_after,
                q.retry_count + (s.outcome IN (1, 2))::integer AS retries_after,
                CASE WHEN s.outcome = 0 THEN 2 WHEN s.outcome = 3 THEN 4
                     WHEN s.outcome = 2 OR q.retry_count + 1 >= retries_max THEN 5
                     ELSE 3 END AS action,
                greatest(s.scheduled_us, s.not_before_us) AS due_after),
    noted AS (
      INSERT INTO dispatch_audit (item_no, at_us, claimed_us, claim_batch, entry, attempts,
                                  retry_count, action, batch, detail)
      SELECT g.item_no, moment, g.claimed_us, g.batch, g.entries + 1, g.attempts_after,
             g.retries_after, g.action, nullif(g.settle_batch, 'b' || g.batch),
             nullif(g.detail, '')
        FROM gone g),
    back AS (
      INSERT INTO dispatch_queue (item_no, due_us, type_id, retry_count, attempts, entries, item_id)
      SELECT g.item_no, g.due_after, type, g.retries_after, g.attempts_after, g.entries + 1, g.item_id
        FROM gone g WHERE g.action IN (3, 4)),
    moved_to AS (
      UPDATE dispatch_item i SET due_us = g.due_after FROM gone g
       WHERE g.action IN (3, 4) AND g.due_after <> g.due_us
         AND i.type_id = g.type_id AND i.item_id = g.item_id),
    died AS (
      INSERT INTO dispatch_dead (died_us, type_id, item_id)
      SELECT moment, type, g.item_id FROM gone g WHERE g.action = 5)
    SELECT array_agg(g.place), array_agg(g.item_id) FILTER (WHERE g.action IN (2, 5)),
           count(*) FILTER (WHERE g.action = 2), count(*) FILTER (WHERE g.action = 5)
      INTO moved, settled, done, dead FROM gone g;
  END IF;
  IF moved IS NULL THEN RETURN '{}'; END IF;
  INSERT INTO dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
  VALUES (type, cardinality(moved) - done - dead, -cardinality(moved), done, dead, 0);
  IF settled IS NOT NULL THEN
    INSERT INTO dispatch_settled (settled_us, type_id, items) VALUES (moment, type, settled);
  END IF;
  RETURN moved;
END
$$;
