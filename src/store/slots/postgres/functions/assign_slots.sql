-- Caller: SlotStore::assign and QueueStore::enqueue, one call per batch, not inside a transaction.
-- Index: event_slot_pkey (known events), slot_config_active, slot_window_pkey, slot_reservation_pkey. Locks: the pools of
-- the batch in ascending order, until it has locked its reservation in its second transaction; then
-- the new event ids in ascending order (the unique index makes a second inserter of an id wait).
-- Items are written in the transaction that inserts the events, so that an item and its slot come together or not
-- at all; they are locked behind the events, see enqueue_items.
--
-- First transaction: places the events in request order exactly as core::place does, one after the
-- other, raises the counters and notes in slot_reservation by how much. Neighbouring requests that
-- ask for the same thing form a group and are placed window by window. Second transaction: inserts
-- the events, side by side with other batches of the pool, and deletes the reservation. If that one
-- fails, for whatever reason, the reservation is left without a lock, and settle_pools or
-- give_back_abandoned returns the places.
--   events, entropy, place, ttl  one per event, ascending by event id, so that the b-tree is walked one
--                         way and inserters of the same ids never wait for each other in a circle;
--                         `place` is where the request stands in the batch, `ttl` its term in
--                         milliseconds, -1 none; empty when no request has one
--   group_…               one per group: number of events, config (index into names), requested
--                         time, max delay, the window to go on with after the first one (a hint,
--                         true while the config's hint number is still group_skip_id), and for an
--                         event that stands earlier in the batch too, that place (else 0)
--   likely_pools          where the caller thinks these configs are, to spare a look-up
--   look_up               how to find events that have a slot: 0 not at all, the unique index refuses
--                         the batch if there is one; 1 before the lock, another batch may still come
--                         between; 2 under the lock and when all batches of these pools have ended:
--                         slower for all, for the second attempt, which returns the places of the
--                         first.
--                         An event whose slot was RELEASED or EXPIRED is placed like a new one, and its
--                         row replaced if it is so still; those too are refused when not looked for
--   item_…                items to write behind the events, as enqueue_items takes them; item_event is
--                         the event whose slot is the item's time ('' = item_due is), and when it
--                         got none the item is left out. Empty arrays: only slots
-- Answers: outcome per event (0 none, else the index of its run, negative when an earlier place of
-- the same event got it), failure per group (0 none, 1 no such config, 2 no room), the runs (group,
-- window, places used in it afterwards), the configs by name (config_hint grows with each version and
-- each time places of the pool were given back), the slots of events that were known before, and the
-- items that were.
--
-- Commits without waiting for the disk, so that the pool lock is free at once: the caller must send
-- flush.sql behind this call and trust the answer only when that has succeeded. flush.sql also frees
-- the pools when this call was cancelled in the moment between its transactions.
CREATE PROCEDURE assign_slots(
  IN events text[], IN entropy bigint[], IN place integer[], IN ttl bigint[],
  IN group_count integer[], IN group_config integer[], IN group_requested bigint[],
  IN group_max_delay bigint[], IN group_skip_to bigint[], IN group_skip_id bigint[],
  IN group_same_as integer[], IN names text[], IN likely_pools integer[],
  IN look_up integer, IN now_us bigint,
  IN item_types text[], IN item_type integer[], IN items text[], IN item_due bigint[],
  IN item_event text[], IN item_context bytea[], IN item_digest bytea[],
  OUT outcome integer[], OUT failure integer[],
  OUT run_group integer[], OUT run_start bigint[], OUT run_used bigint[],
  OUT config_hint bigint[], OUT config_version bigint[], OUT config_max integer[],
  OUT config_pool integer[], OUT config_size bigint[],
  OUT known_event integer[], OUT known_requested bigint[], OUT known_start bigint[],
  OUT known_scheduled bigint[], OUT known_created bigint[], OUT known_status smallint[],
  OUT known_config text[], OUT known_version bigint[], OUT known_confirm_by bigint[],
  OUT created bigint,
  OUT item_known integer[], OUT item_known_digest bytea[], OUT item_known_scheduled bigint[],
  OUT item_known_state integer[])
LANGUAGE plpgsql
AS $$
#variable_conflict use_variable
DECLARE
  config_id integer[];
  pools_locked integer[];
  reservation xid8;
  run_low bigint[] := '{}';   -- the earliest scheduled time the run may give
  run_span bigint[] := '{}';  -- and how many milliseconds from there it may spread over
  -- Counters seen by this batch, ascending by key = place of the pool's config << 44 | window start.
  seen_key bigint[];
  seen_used bigint[];
  seen_before bigint[];
  seen_charges integer[];     -- -1: there is no row yet
  has_known boolean;
  has_ended boolean := false; -- some events have a slot that was RELEASED or EXPIRED
  replaced bigint;
  known_at integer := 1;      -- the next entry of known_… to come
  known_end integer := 1;     -- the first one behind the group
  group_no integer;
  group_end integer := 0;     -- last event of the group
  event_no integer;
  config integer;
  pool integer;
  pool_key bigint[];
  size bigint;
  places bigint;              -- the config's maximum
  requested bigint;
  first_start bigint;
  last_start bigint;
  start bigint;
  need integer;
  room bigint;
  take bigint;
  at integer;                 -- index into seen_…
  key bigint;
  used_now bigint;
  charges_now integer;
  stretch bigint;             -- windows to look through at once for the end of a full run
  run_no integer := 0;
BEGIN
  -- A procedure that commits can have no SET clauses.
  -- Statistics of a young table must not pick a scan that a grown table cannot bear.
  PERFORM set_config('synchronous_commit', 'off', true),
          set_config('search_path', 'penstock, pg_temp', true),
          set_config('plan_cache_mode', 'force_generic_plan', true),
          set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
          set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
          set_config('enable_material', 'off', true), set_config('jit', 'off', true);

  pools_locked := likely_pools;
  IF cardinality(pools_locked) = 0 THEN
    SELECT coalesce(array_agg(DISTINCT c.pool_id), '{}') INTO pools_locked
      FROM unnest(names) AS n(name) JOIN slot_config c ON c.name = n.name AND c.active;
  END IF;
  IF look_up = 2 THEN
    PERFORM lock_pools(pools_locked);
    PERFORM settle_pools(pools_locked);
  END IF;

  has_known := false;
  IF look_up > 0 THEN
    PERFORM FROM event_slot t WHERE t.event_id = ANY (events) LIMIT 1;
    has_known := FOUND;
  END IF;
  IF has_known THEN
    SELECT array_agg(k.place) FILTER (WHERE k.held),
           array_agg(k.requested_ms) FILTER (WHERE k.held),
           array_agg(k.window_start_ms) FILTER (WHERE k.held),
           array_agg(k.scheduled_ms) FILTER (WHERE k.held),
           array_agg(k.created_us) FILTER (WHERE k.held), array_agg(k.status) FILTER (WHERE k.held),
           array_agg(k.name) FILTER (WHERE k.held), array_agg(k.version) FILTER (WHERE k.held),
           array_agg(k.confirm_by_us) FILTER (WHERE k.held), coalesce(bool_or(NOT k.held), false)
      INTO known_event, known_requested, known_start, known_scheduled, known_created, known_status,
           known_config, known_version, known_confirm_by, has_ended
      FROM (SELECT e.place, s.*, s.status < 2 AS held, c.name, c.version
              FROM unnest(events, place) AS e(event_id, place)
             CROSS JOIN LATERAL (SELECT * FROM event_slot t
                                  WHERE t.event_id = e.event_id LIMIT 1) s
             CROSS JOIN LATERAL (SELECT t.name, t.version FROM slot_config t
                                  WHERE t.config_id = s.config_id LIMIT 1) c
             ORDER BY e.place) k;
    has_known := known_event IS NOT NULL;
  END IF;
  IF look_up < 2 AND (NOT has_known OR cardinality(known_event) < cardinality(events)) THEN
    PERFORM lock_pools(pools_locked);
  END IF;
  -- Only now that no config and no counter of these pools can change.
  IF cardinality(group_count) = 1 AND cardinality(names) = 1 THEN
    -- The usual batch: its config and the counters it will need in one statement. Behind the hint
    -- a few windows more than it takes, since batches before this one have gone on from there.
    SELECT ARRAY[c.config_id], ARRAY[c.config_id::bigint << 32 | p.returned], ARRAY[c.version],
           ARRAY[c.max_per_window], ARRAY[c.pool_id], ARRAY[p.window_size_ms],
           ARRAY[1::bigint << 44], s.key, s.used, s.charges, s.free_start
      INTO config_id, config_hint, config_version, config_max, config_pool, config_size, pool_key,
           seen_key, seen_used, seen_charges, start
      FROM slot_config c JOIN slot_pool p ON p.pool_id = c.pool_id
     CROSS JOIN LATERAL (
       SELECT array_agg(1::bigint << 44 | k.start) AS key,
              array_agg(coalesce(w.used, 0)::bigint) AS used,
              array_agg(coalesce(w.charges, -1)) AS charges,
              min(k.start) FILTER (WHERE k.n >= 0 AND coalesce(w.used, 0) < c.max_per_window)
                AS free_start
         FROM (SELECT n, CASE WHEN n < 0
                              THEN group_requested[1] - group_requested[1] % p.window_size_ms
                              ELSE group_skip_to[1] + n * p.window_size_ms END AS start
                 FROM generate_series(-1, CASE
                        WHEN group_skip_id[1] = c.config_id::bigint << 32 | p.returned
                             AND group_skip_to[1] > group_requested[1] + p.window_size_ms
                        THEN group_count[1] / c.max_per_window + 8 ELSE -1 END) n) k
         LEFT JOIN LATERAL (SELECT t.used, t.charges FROM slot_window t
                             WHERE t.pool_id = c.pool_id AND t.window_start_ms = k.start
                             ORDER BY t.generation DESC LIMIT 1) w ON true) s
     WHERE c.name = names[1] AND c.active;
    IF start IS NOT NULL THEN group_skip_to[1] := start; END IF;
  ELSE
    SELECT array_agg(n.config_id), array_agg(n.hint), array_agg(n.version),
           array_agg(n.max_per_window), array_agg(n.pool_id), array_agg(n.window_size_ms),
           -- Configs of one pool share counters: the first of them lends its place as their key.
           array_agg(n.pool_place << 44)
      INTO config_id, config_hint, config_version, config_max, config_pool, config_size, pool_key
      FROM (SELECT c.config_id, c.config_id::bigint << 32 | p.returned AS hint, c.version,
                   c.max_per_window, c.pool_id, p.window_size_ms,
                   min(m.ord) OVER (PARTITION BY c.pool_id) AS pool_place
              FROM unnest(names) WITH ORDINALITY AS m(name, ord)
              LEFT JOIN slot_config c ON c.name = m.name AND c.active
              LEFT JOIN slot_pool p ON p.pool_id = c.pool_id
             ORDER BY m.ord) n;
    -- The counters of all first windows, in one go.
    SELECT array_agg(k.key), array_agg(coalesce(w.used, 0)::bigint),
           array_agg(coalesce(w.charges, -1))
      INTO seen_key, seen_used, seen_charges
      FROM (SELECT DISTINCT pool_key[g.config] | (g.requested - g.requested % config_size[g.config])
                   AS key, config_pool[g.config] AS pool_id,
                   g.requested - g.requested % config_size[g.config] AS start
              FROM unnest(group_config, group_requested) AS g(config, requested)
             WHERE config_id[g.config] IS NOT NULL ORDER BY 1) k
      LEFT JOIN LATERAL (SELECT t.used, t.charges FROM slot_window t
                          WHERE t.pool_id = k.pool_id AND t.window_start_ms = k.start
                          ORDER BY t.generation DESC LIMIT 1) w ON true;
  END IF;
  IF NOT array_remove(config_pool, NULL) <@ pools_locked THEN
    RAISE EXCEPTION 'a config is in another pool now' USING ERRCODE = 'serialization_failure';
  END IF;

  created := coalesce(now_us, epoch_us());
  outcome := '{}';
  failure := array_fill(0, ARRAY[cardinality(group_count)]);
  run_group := '{}';
  run_start := '{}';
  run_used := '{}';

  seen_before := seen_used;

  FOR group_no IN 1 .. cardinality(group_count) LOOP
    event_no := group_end + 1;
    group_end := group_end + group_count[group_no];
    need := group_count[group_no];
    IF has_known THEN
      known_end := known_at;
      WHILE known_event[known_end] <= group_end LOOP
        known_end := known_end + 1;
      END LOOP;
      need := need - (known_end - known_at);
    END IF;
    IF group_same_as[group_no] > 0 AND outcome[group_same_as[group_no]] <> 0 THEN
      outcome := outcome || -abs(outcome[group_same_as[group_no]]);
      need := 0;
    END IF;
    config := group_config[group_no];
    IF need > 0 AND config_id[config] IS NULL THEN
      failure[group_no] := 1;
      need := 0;
    END IF;
    IF need > 0 THEN
      size := config_size[config];
      places := config_max[config];
      pool := config_pool[config];
      requested := group_requested[group_no];
      first_start := requested - requested % size;
      last_start := requested + group_max_delay[group_no];
      last_start := last_start - last_start % size;
      start := first_start;
      stretch := 64;
      WHILE need > 0 AND start <= last_start LOOP
        key := pool_key[config] | start;
        at := width_bucket(key, seen_key);
        IF at = 0 OR seen_key[at] <> key THEN
          SELECT t.used, t.charges INTO used_now, charges_now FROM slot_window t
           WHERE t.pool_id = pool AND t.window_start_ms = start ORDER BY t.generation DESC LIMIT 1;
          IF NOT FOUND THEN
            used_now := 0;
            charges_now := -1;
          ELSIF used_now >= places THEN
            -- Full: on to the end of the run of full windows, without keeping any of them.
            SELECT coalesce(max(f.window_start_ms), start) + size INTO start
              FROM (SELECT t.window_start_ms,
                           row_number() OVER (ORDER BY t.window_start_ms) AS ord
                      FROM slot_window t
                     WHERE t.pool_id = pool AND t.window_start_ms > start
                       AND t.window_start_ms <= start + stretch * size AND t.used >= places) f
             WHERE f.window_start_ms = start + f.ord * size;
            stretch := least(stretch * 4, 4096);
            CONTINUE;
          END IF;
          seen_key := seen_key[1:at] || key || seen_key[at + 1:];
          seen_used := seen_used[1:at] || used_now || seen_used[at + 1:];
          seen_before := seen_before[1:at] || used_now || seen_before[at + 1:];
          seen_charges := seen_charges[1:at] || charges_now || seen_charges[at + 1:];
          at := at + 1;
        END IF;
        IF start = first_start THEN
          -- Of the first window only the rest is offered.
          room := places * (size - (requested - start)) / size - seen_used[at];
        ELSE
          room := places - seen_used[at];
        END IF;
        IF room > 0 THEN
          take := least(room, need);
          run_no := run_no + 1;
          run_group := run_group || group_no;
          run_start := run_start || start;
          run_low := run_low || greatest(start, requested);
          run_span := run_span || (start + size - greatest(start, requested));
          seen_used[at] := seen_used[at] + take;
          run_used := run_used || seen_used[at];
          need := need - take;
          IF take = 1 AND NOT has_known THEN
            outcome := outcome || run_no;
          ELSIF NOT has_known THEN
            outcome := outcome || array_fill(run_no, ARRAY[take::integer]);
          ELSE
            WHILE take > 0 LOOP
              IF event_no = known_event[known_at] THEN
                outcome := outcome || 0;
                known_at := known_at + 1;
              ELSE
                outcome := outcome || run_no;
                take := take - 1;
              END IF;
              event_no := event_no + 1;
            END LOOP;
          END IF;
        END IF;
        IF start = first_start AND group_skip_id[group_no] = config_hint[config]
           AND group_skip_to[group_no] > start THEN
          start := group_skip_to[group_no];
        ELSE
          start := start + size;
        END IF;
      END LOOP;
      IF need > 0 THEN failure[group_no] := 2; END IF;
    END IF;
    known_at := known_end;
    IF cardinality(outcome) < group_end THEN
      outcome := outcome || array_fill(0, ARRAY[group_end - cardinality(outcome)]);
    END IF;
  END LOOP;

  -- An event without a new slot may have an old one, which the unique index has not told. Or a batch
  -- on its way is about to give it one, or to give places back.
  IF look_up = 0 AND 0 = ANY (outcome)
     OR look_up = 1 AND 2 = ANY (failure)
        AND EXISTS (SELECT FROM slot_reservation r WHERE r.reservation_id >= reservations_from()
                       AND r.pool_id = ANY (pools_locked)) THEN
    RAISE EXCEPTION 'events may have slots' USING ERRCODE = 'serialization_failure';
  END IF;

  IF run_no > 0 THEN
    UPDATE slot_window w
       SET used = c.used, charges = w.charges + 1, generation = (w.charges + 1) / 64
      FROM unnest(seen_key, seen_used, seen_before, seen_charges)
           AS c(key, used, used_before, charges)
     WHERE c.used > c.used_before AND c.charges >= 0
       AND w.pool_id = config_pool[(c.key >> 44)::integer]
       AND w.window_start_ms = c.key & 17592186044415 AND w.generation = c.charges / 64;
    INSERT INTO slot_window (window_start_ms, pool_id, used, charges, generation)
    SELECT c.key & 17592186044415, config_pool[(c.key >> 44)::integer], c.used, 0, 0
      FROM unnest(seen_key, seen_used, seen_charges) AS c(key, used, charges)
     WHERE c.used > 0 AND c.charges < 0;
    reservation := pg_current_xact_id();
    INSERT INTO slot_reservation (reservation_id, pool_id, places, windows)
    SELECT reservation, config_pool[(c.key >> 44)::integer],
           array_agg((c.used - c.used_before)::integer), array_agg(c.key & 17592186044415)
      FROM unnest(seen_key, seen_used, seen_before) AS c(key, used, used_before)
     WHERE c.used > c.used_before GROUP BY 2;
    -- The lock of the transaction becomes one of the session, to outlive the commit.
    PERFORM pg_advisory_lock(1885434739, p) FROM unnest(pools_locked) p;
    COMMIT;

    PERFORM set_config('synchronous_commit', 'off', true),
            set_config('search_path', 'penstock, pg_temp', true);
    DELETE FROM slot_reservation r WHERE r.reservation_id = reservation;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the places were given back' USING ERRCODE = 'serialization_failure';
    END IF;
    PERFORM pg_advisory_unlock(1885434739, p) FROM unnest(pools_locked) p;
    IF NOT has_ended THEN
      INSERT INTO event_slot (requested_ms, window_start_ms, scheduled_ms, created_us, config_id,
                              status, event_id, confirm_by_us)
      SELECT group_requested[run_group[e.run]], run_start[e.run],
             -- scale64 of base/rng.h in two halves; a span is below 2^27, so nothing overflows.
             run_low[e.run] + (((((e.entropy >> 32) & 4294967295) * run_span[e.run])
                                + (((e.entropy & 4294967295) * run_span[e.run]) >> 32)) >> 32),
             created, config_id[group_config[run_group[e.run]]], 0, e.event_id,
             created + 1000 * nullif(e.ttl, -1)
        FROM (SELECT u.event_id, u.entropy, outcome[u.place] AS run, u.ttl
                FROM unnest(events, entropy, place, ttl) AS u(event_id, entropy, place, ttl)
              OFFSET 0) e
       WHERE e.run > 0;
    ELSE
      -- The same, and rows that have ended are replaced. Not for all batches: looking for a
      -- conflict costs each row. One statement, so that the ids are locked in one ascending walk.
      INSERT INTO event_slot (requested_ms, window_start_ms, scheduled_ms, created_us, config_id,
                              status, event_id, confirm_by_us)
      SELECT group_requested[run_group[e.run]], run_start[e.run],
             run_low[e.run] + (((((e.entropy >> 32) & 4294967295) * run_span[e.run])
                                + (((e.entropy & 4294967295) * run_span[e.run]) >> 32)) >> 32),
             created, config_id[group_config[run_group[e.run]]], 0, e.event_id,
             created + 1000 * nullif(e.ttl, -1)
        FROM (SELECT u.event_id, u.entropy, outcome[u.place] AS run, u.ttl
                FROM unnest(events, entropy, place, ttl) AS u(event_id, entropy, place, ttl)
              OFFSET 0) e
       WHERE e.run > 0
          ON CONFLICT ON CONSTRAINT event_slot_pkey DO UPDATE
         SET requested_ms = excluded.requested_ms, window_start_ms = excluded.window_start_ms,
             scheduled_ms = excluded.scheduled_ms, created_us = excluded.created_us,
             config_id = excluded.config_id, status = excluded.status,
             confirm_by_us = excluded.confirm_by_us
       WHERE event_slot.status >= 2;
      GET DIAGNOSTICS replaced = ROW_COUNT;
      IF replaced <> (SELECT count(*) FROM unnest(outcome) AS o(run) WHERE o.run > 0) THEN
        RAISE EXCEPTION 'another batch gave one of the events a slot'
          USING ERRCODE = 'serialization_failure';
      END IF;
    END IF;
  END IF;

  IF cardinality(items) > 0 THEN
    SELECT array_agg(CASE WHEN n.event = '' THEN n.due ELSE s.scheduled_us END ORDER BY n.ord)
      INTO item_due
      FROM unnest(item_event, item_due) WITH ORDINALITY AS n(event, due, ord)
      LEFT JOIN LATERAL (SELECT t.scheduled_ms * 1000 AS scheduled_us FROM event_slot t
                          WHERE t.event_id = n.event AND t.status < 2 LIMIT 1) s ON true;
    -- A slot that this batch found and that was given up since would leave its item without a time.
    IF coalesce(cardinality(array_positions(item_due, NULL)), 0)
         > coalesce(cardinality(array_positions(outcome, 0)), 0)
           - coalesce(cardinality(known_event), 0) THEN
      RAISE EXCEPTION 'a slot was given up meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    SELECT e.known_place, e.known_digest, e.known_scheduled, e.known_state
      INTO item_known, item_known_digest, item_known_scheduled, item_known_state
      FROM enqueue_items(item_types, item_type, items, item_due, item_context, item_digest,
                         ARRAY(SELECT n.event <> '' FROM unnest(item_event) WITH ORDINALITY
                                                         AS n(event, ord) ORDER BY n.ord),
                         false, created) e;
  END IF;
END
$$;
