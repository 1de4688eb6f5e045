-- Caller: QueueStore::claim. Index: dispatch_queue_pkey, dispatch_item_pkey. Locks: one advisory lock for
-- the claims of a type (1885434740, type), which nothing else takes; then rows of the queue. READY rows
-- are only ever held by a cancel, which waits for nothing else, so they may be waited for. Rows that
-- are claimed may be held by a settlement, which may wait for others: they are skipped while locked.
--
-- Claims up to `most` items that are due at now + early_us, in the order of time and id, from the place
-- (from_due_us, from_id) on: where the caller knows that nothing before it can be claimed, which
-- spares the walk over deleted rows that a held snapshot keeps. Answers a row for each item, then one
-- without an item id that tells of the whole: the batch, the time of the first item not claimed when
-- there were fewer, the oldest claim of this token that was passed over (asked for only when the
-- search began at the start), the moment, and whether all that was passed over is known to be claimed
-- (the caller may begin behind it next time). No row: a newer token has claimed. Items with no retries left
-- die instead, and are noted in dispatch_dead.
CREATE FUNCTION claim_items(
  type_name text, claim_token bigint, most integer, early_us bigint, stale_us bigint,
  retries_max integer, now_us bigint, from_due_us bigint, from_id text)
RETURNS TABLE (item_id text, scheduled_us bigint, retry_count integer, attempts integer,
               context bytea, due_us bigint, batch bigint, next_due_us bigint,
               oldest_claim_us bigint, moment_us bigint, passed boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  type integer := (dispatch_types(ARRAY[type_name]))[1];
  low_due bigint := coalesce(from_due_us, -9223372036854775808);
  low_id text := coalesce(from_id, '');
  high_due bigint;
  moment bigint;
  fence bigint;
  this_batch bigint;
  places tid[];
  any_claimed boolean;
  any_spent boolean;
  all_passed boolean := true;
  asked integer;
  step integer;
  last_due bigint;  -- where this claim ended
  last_id text;
  taken integer := 0;
  lost integer := 0;
  dead_ready integer := 0;
  dead_claimed integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(1885434740, type);
  SELECT l.claim_token INTO fence FROM dispatch_lease l WHERE l.type_id = type;
  IF fence > claim_token THEN RETURN; END IF;
  IF fence IS DISTINCT FROM claim_token THEN
    INSERT INTO dispatch_lease AS l (type_id, claim_token) VALUES (type, claim_token)
        ON CONFLICT (type_id) DO UPDATE SET claim_token = excluded.claim_token;
  END IF;
  moment := coalesce(now_us, epoch_us());
  high_due := moment + early_us;

  WHILE taken < most LOOP
    asked := most - taken;
    SELECT array_agg(p.place), bool_or(p.batch <> 0), bool_or(p.retry_count >= retries_max)
      INTO places, any_claimed, any_spent
      FROM (SELECT q.ctid AS place, q.batch, q.retry_count FROM dispatch_queue q
             WHERE q.type_id = type AND (q.due_us, q.item_id) >= (low_due, low_id)
               AND q.due_us <= high_due
               AND (q.batch = 0 OR q.batch IS DISTINCT FROM this_batch
                      AND (q.token < claim_token OR q.claimed_us <= moment - stale_us))
             ORDER BY q.due_us, q.item_id LIMIT asked) p;
    EXIT WHEN places IS NULL;
    IF any_claimed THEN
      SELECT array_agg(p.place), bool_or(p.retry_count >= retries_max)
        INTO places, any_spent
        FROM (SELECT q.ctid AS place, q.retry_count FROM dispatch_queue q
               WHERE q.type_id = type AND (q.due_us, q.item_id) >= (low_due, low_id)
                 AND q.due_us <= high_due
                 AND (q.batch = 0 OR q.batch IS DISTINCT FROM this_batch
                        AND (q.token < claim_token OR q.claimed_us <= moment - stale_us))
               ORDER BY q.due_us, q.item_id LIMIT asked FOR UPDATE SKIP LOCKED) p;
      all_passed := false;  -- what was skipped may be left as it was
      EXIT WHEN places IS NULL;
    END IF;
    IF this_batch IS NULL THEN this_batch := nextval('dispatch_batch'); END IF;
    IF from_due_us IS NULL THEN
      SELECT q.due_us, q.item_id INTO last_due, last_id FROM dispatch_queue q
       WHERE q.ctid = places[cardinality(places)];
    END IF;

    -- By place only, as in settle_items. Type and time are looked at again: a place may have been
    -- freed and taken since.
    IF any_spent THEN
      WITH gone AS (
        DELETE FROM dispatch_queue q
         USING (SELECT type AS type_id, u.place FROM unnest(places) AS u(place) OFFSET 0) p
         WHERE q.ctid = p.place AND q.type_id = p.type_id AND q.due_us <= high_due
           AND q.retry_count >= retries_max
        RETURNING q.*),
      noted AS (
        INSERT INTO dispatch_audit (item_no, at_us, claimed_us, claim_batch, entry, attempts,
                                    retry_count, action, batch, detail)
        SELECT g.item_no, moment, nullif(g.claimed_us, 0), nullif(g.batch, 0), g.entries + 1,
               g.attempts, g.retry_count, 8, 'b' || this_batch, 'no retries left'::bytea
          FROM gone g),
      logged AS (
        INSERT INTO dispatch_settled (settled_us, type_id, items)
        SELECT moment, type, array_agg(g.item_id) FROM gone g HAVING count(*) > 0),
      died AS (
        INSERT INTO dispatch_dead (died_us, type_id, item_id)
        SELECT moment, type, g.item_id FROM gone g)
      SELECT dead_ready + count(*) FILTER (WHERE g.batch = 0),
             dead_claimed + count(*) FILTER (WHERE g.batch <> 0)
        INTO dead_ready, dead_claimed FROM gone g;
    END IF;
    IF any_claimed THEN
      INSERT INTO dispatch_audit (item_no, at_us, claimed_us, claim_batch, entry, attempts,
                                  retry_count, action)
      SELECT q.item_no, moment, q.claimed_us, q.batch, q.entries + 1, q.attempts, q.retry_count, 1
        FROM (SELECT type AS type_id, u.place FROM unnest(places) AS u(place) OFFSET 0) p
        JOIN dispatch_queue q ON q.ctid = p.place
       WHERE q.type_id = p.type_id AND q.due_us <= high_due AND q.batch <> 0;
      GET DIAGNOSTICS step = ROW_COUNT;
      lost := lost + step;
    END IF;

    RETURN QUERY
    WITH mine AS (
      UPDATE dispatch_queue q
         SET token = claim_token, claimed_us = moment, batch = this_batch,
             attempts = q.attempts + 1, entries = q.entries + (q.batch <> 0)::integer
        FROM (SELECT type AS type_id, u.place FROM unnest(places) AS u(place) OFFSET 0) p
       WHERE q.ctid = p.place AND q.type_id = p.type_id AND q.due_us <= high_due
      RETURNING q.item_id, q.due_us, q.retry_count, q.attempts)
    SELECT m.item_id, i.scheduled_us, m.retry_count, m.attempts, i.context, m.due_us,
           NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::boolean
      FROM mine m
     CROSS JOIN LATERAL (SELECT t.scheduled_us, t.context FROM dispatch_item t
                          WHERE t.type_id = type AND t.item_id = m.item_id LIMIT 1) i
     ORDER BY m.due_us, m.item_id;
    GET DIAGNOSTICS step = ROW_COUNT;
    taken := taken + step;
    EXIT WHEN cardinality(places) < asked;
  END LOOP;

  IF this_batch IS NOT NULL THEN
    INSERT INTO dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
    VALUES (type, -(taken - lost) - dead_ready, taken - lost - dead_claimed, 0,
            dead_ready + dead_claimed, 0);
  END IF;
  IF taken < most THEN
    SELECT q.due_us INTO next_due_us FROM dispatch_queue q
     WHERE q.type_id = type AND q.due_us > high_due
       AND (q.batch = 0 OR q.token < claim_token OR q.claimed_us <= moment - stale_us)
     ORDER BY q.due_us LIMIT 1;
  END IF;
  IF from_due_us IS NULL THEN
    IF taken < most THEN
      last_due := high_due + 1;
      last_id := '';
    END IF;
    SELECT min(q.claimed_us) INTO oldest_claim_us FROM dispatch_queue q
     WHERE q.type_id = type AND (q.due_us, q.item_id) < (last_due, last_id)
       AND q.batch <> 0 AND q.batch IS DISTINCT FROM this_batch;
  END IF;
  batch := this_batch;
  moment_us := moment;
  passed := all_passed;
  RETURN NEXT;
END
$$;
