-- Caller: penstock migrate. Locks: the queue against those who write it, while what is settled is read once.
LOCK TABLE dispatch_queue IN SHARE ROW EXCLUSIVE MODE;

-- Items that are DEAD, so that people can be shown them: a row comes and goes with the state.
CREATE TABLE dispatch_dead (
  died_us bigint NOT NULL,
  type_id integer NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  CONSTRAINT dispatch_dead_pkey PRIMARY KEY (type_id, item_id)
);
CREATE INDEX dispatch_dead_time ON dispatch_dead (type_id, died_us DESC, item_id);

-- Those that are dead already.
INSERT INTO dispatch_dead (died_us, type_id, item_id)
SELECT a.at_us, i.type_id, i.item_id
  FROM dispatch_item i
  JOIN LATERAL (SELECT t.at_us, t.action FROM dispatch_audit t
                 WHERE t.item_no = i.item_no ORDER BY t.entry DESC LIMIT 1) a ON a.action IN (5, 8)
 WHERE NOT EXISTS (SELECT 1 FROM dispatch_queue q
                    WHERE q.type_id = i.type_id AND q.due_us = i.due_us AND q.item_id = i.item_id);

-- As before, and what dies is noted in dispatch_dead; see migrations/0010_claim_items.sql.
CREATE OR REPLACE FUNCTION claim_items(
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

-- As before, and what dies is noted; see migrations/0011_settle_items.sql.
CREATE OR REPLACE FUNCTION settle_items(
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

-- As before, and it is dead no more; see migrations/0011_settle_items.sql.
CREATE OR REPLACE FUNCTION redrive_item(IN type_name text, IN item text, IN now_us bigint,
                             OUT outcome integer, OUT due_us bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  type integer;
  moment bigint := coalesce(now_us, epoch_us());
  stood dispatch_item;
  last dispatch_audit;
BEGIN
  SELECT t.type_id INTO type FROM dispatch_type t WHERE t.name = type_name;
  SELECT * INTO stood FROM dispatch_item i
   WHERE i.type_id = type AND i.item_id = item FOR UPDATE;
  outcome := CASE WHEN FOUND THEN 1 ELSE 0 END;
  IF item_state(type, stood.due_us, item, stood.item_no) IS DISTINCT FROM 3 THEN RETURN; END IF;
  SELECT * INTO last FROM dispatch_audit a
   WHERE a.item_no = stood.item_no ORDER BY a.entry DESC LIMIT 1;
  INSERT INTO dispatch_audit (item_no, at_us, entry, attempts, retry_count, action)
  VALUES (stood.item_no, moment, last.entry + 1, last.attempts, 0, 7);
  INSERT INTO dispatch_queue (item_no, due_us, type_id, attempts, entries, item_id)
  VALUES (stood.item_no, moment, type, last.attempts, last.entry + 1, item);
  DELETE FROM dispatch_dead d WHERE d.type_id = type AND d.item_id = item;
  UPDATE dispatch_item i SET due_us = moment WHERE i.type_id = type AND i.item_id = item;
  INSERT INTO dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
  VALUES (type, 1, 0, 0, -1, 0);
  outcome := 2;
  due_us := moment;
END
$$;

-- As before, dead items with the rest; see migrations/0012_forget_items.sql.
CREATE OR REPLACE FUNCTION forget_items(type_name text, before_us bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  type integer;
  log dispatch_settled;
  held text[];   -- items of the log's row that we have locked
  old text[];    -- those of them that may go
  numbers bigint[];
  rest text[];   -- those of the row that are for another time
  counts integer[];
  gone bigint := 0;
BEGIN
  SELECT t.type_id INTO type FROM dispatch_type t WHERE t.name = type_name;
  FOR log IN SELECT * FROM dispatch_settled s
              WHERE s.type_id = type AND s.settled_us < before_us
              ORDER BY s.settled_us, s.settled_no FOR UPDATE SKIP LOCKED LOOP
    EXIT WHEN gone >= most;
    rest := log.items[most - gone + 1:];
    SELECT array_agg(h.item_id) INTO held
      FROM (SELECT i.item_id FROM dispatch_item i
             WHERE i.type_id = type AND i.item_id = ANY (log.items[:most - gone])
             ORDER BY i.item_id FOR UPDATE SKIP LOCKED) h;
    -- Whoever holds the others may bring them back to life, or not.
    SELECT rest || array_agg(i.item_id) INTO rest FROM dispatch_item i
     WHERE i.type_id = type AND i.item_id = ANY (log.items[:most - gone])
       AND i.item_id <> ALL (coalesce(held, '{}'));
    -- An item may be back in the queue, or settled anew, which another row of the log tells.
    SELECT array_agg(h.item_id), array_agg(h.item_no),
           ARRAY[count(*) FILTER (WHERE h.state = 2), count(*) FILTER (WHERE h.state = 3),
                 count(*) FILTER (WHERE h.state = 4)]
      INTO old, numbers, counts
      FROM (SELECT i.item_id, i.item_no,
                   item_state(type, i.due_us, i.item_id, i.item_no) AS state
              FROM unnest(held) AS l(item_id)
              JOIN dispatch_item i ON i.type_id = type AND i.item_id = l.item_id
             WHERE (SELECT a.at_us FROM dispatch_audit a
                     WHERE a.item_no = i.item_no
                     ORDER BY a.entry DESC LIMIT 1) < before_us) h
     WHERE h.state >= 2;
    IF old IS NOT NULL THEN
      DELETE FROM dispatch_audit a WHERE a.item_no = ANY (numbers);
      IF counts[2] > 0 THEN
        DELETE FROM dispatch_dead d WHERE d.type_id = type AND d.item_id = ANY (old);
      END IF;
      DELETE FROM dispatch_item i WHERE i.type_id = type AND i.item_id = ANY (old);
      INSERT INTO dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)
      VALUES (type, 0, 0, -counts[1], -counts[2], -counts[3]);
      gone := gone + cardinality(old);
    END IF;
    IF cardinality(rest) > 0 THEN
      UPDATE dispatch_settled s SET items = rest
       WHERE s.type_id = type AND s.settled_us = log.settled_us AND s.settled_no = log.settled_no;
    ELSE
      DELETE FROM dispatch_settled s
       WHERE s.type_id = type AND s.settled_us = log.settled_us AND s.settled_no = log.settled_no;
    END IF;
  END LOOP;
  RETURN gone;
END
$$;
