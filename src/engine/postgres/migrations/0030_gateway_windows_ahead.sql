-- Caller: penstock migrate. Locks: none but those of the catalogue.
-- As migrations/0020_gateway.sql, 0021_gateway_bus.sql and 0022_gateway_cache.sql, but for windows that begin in
-- the future, which a clock leaves behind that was ahead: they begin now, with what was used of them, so that
-- nobody waits longer than one window. What they were is written down even if nothing is charged, or
-- they would begin anew with every call.

-- Caller: the functions below, holding the quotas. Index: gateway_quota_pkey. Locks: none more.
CREATE FUNCTION gateway_begin_by(IN users integer[], IN at_us bigint) RETURNS void
LANGUAGE sql VOLATILE
SET search_path = penstock, pg_temp
AS $$
  UPDATE gateway_quota q SET refreshed_us = at_us WHERE q.user_id = ANY (users) AND q.refreshed_us > at_us;
$$;

-- Caller: QuotaStore::send. Index: gateway_quota_pkey, gateway_key_pkey, gateway_usage_pkey, and those of
-- enqueue_items. Locks: the quotas of all users of the batch, ascending, before anything is read of
-- them; then only what belongs to these users, ascending.
-- Decides the messages of each user in the order of the arrays (as core::charge_quota), and writes those
-- that are taken: items of type SMS that are due at once, quotas, keys, counts. A key of '' is none.
-- An id that is there already refuses the batch (unique_violation).
-- Answers the moment; for each message what became of it as SendResult numbers it, and until when a
-- limited one has to wait; and the places and message ids of those that came with a known key.
CREATE OR REPLACE FUNCTION gateway_send(
  IN users integer[], IN costs bigint[], IN ids text[], IN keys text[], IN digests bytea[],
  IN contexts bytea[], IN key_term_us bigint, IN now_us bigint,
  OUT at_us bigint, OUT results integer[], OUT waits_us bigint[], OUT known_place integer[],
  OUT known_id text[])
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  -- The quotas that are there, locked.
  quota_user integer[];
  quota_limit bigint[];
  quota_window bigint[];
  quota_used bigint[];
  quota_refreshed bigint[];
  -- The user whose messages are looked at.
  one record;
  this_user integer;
  used bigint;
  refreshed bigint;
  sent bigint := 0;
  key_digest bytea;
  key_message text;
  -- Those with anything taken.
  changed_user integer[] := '{}';
  changed_used bigint[] := '{}';
  changed_refreshed bigint[] := '{}';
  changed_sent bigint[] := '{}';
  taken_ids text[];
  taken_contexts bytea[];
  taken_digests bytea[];
BEGIN
  SELECT array_agg(q.user_id), array_agg(q.rate_limit), array_agg(q.window_min * 60000000),
         array_agg(q.used), array_agg(q.refreshed_us)
    INTO quota_user, quota_limit, quota_window, quota_used, quota_refreshed
    FROM (SELECT * FROM gateway_quota g WHERE g.user_id = ANY (users) ORDER BY g.user_id FOR UPDATE) q;
  at_us := coalesce(now_us, epoch_us());
  IF at_us < ANY (quota_refreshed) THEN
    PERFORM gateway_begin_by(users, at_us);
    quota_refreshed := ARRAY(SELECT least(r.us, at_us) FROM unnest(quota_refreshed) WITH ORDINALITY AS r(us, ord)
                              ORDER BY r.ord);
  END IF;
  results := array_fill(5, ARRAY[cardinality(users)]);
  waits_us := array_fill(0::bigint, ARRAY[cardinality(users)]);
  known_place := '{}';
  known_id := '{}';

  FOR one IN
    SELECT n.place::integer AS place, n.user_id, n.cost, n.id, n.key, n.digest, q.rate_limit,
           q.window_us, q.used AS first_used, q.refreshed_us AS first_refreshed
      FROM unnest(users, costs, ids, keys, digests) WITH ORDINALITY
           AS n(user_id, cost, id, key, digest, place)
      JOIN unnest(quota_user, quota_limit, quota_window, quota_used, quota_refreshed)
           AS q(user_id, rate_limit, window_us, used, refreshed_us) ON q.user_id = n.user_id
     ORDER BY n.user_id, n.place
  LOOP
    IF this_user IS DISTINCT FROM one.user_id THEN
      IF sent > 0 THEN
        changed_user := changed_user || this_user;
        changed_used := changed_used || used;
        changed_refreshed := changed_refreshed || refreshed;
        changed_sent := changed_sent || sent;
      END IF;
      this_user := one.user_id;
      used := one.first_used;
      refreshed := one.first_refreshed;
      sent := 0;
    END IF;
    IF one.key <> '' THEN
      SELECT k.digest, k.message_id INTO key_digest, key_message FROM gateway_key k
       WHERE k.user_id = one.user_id AND k.key = one.key AND k.taken_us > at_us - key_term_us;
      IF FOUND THEN
        results[one.place] := CASE WHEN key_digest = one.digest THEN 1 ELSE 2 END;
        IF key_digest = one.digest THEN
          known_place := known_place || one.place;
          known_id := known_id || key_message;
        END IF;
        CONTINUE;
      END IF;
    END IF;
    IF one.cost > one.rate_limit THEN
      results[one.place] := 4;
      CONTINUE;
    END IF;
    IF at_us < refreshed + one.window_us AND used + one.cost > one.rate_limit THEN
      results[one.place] := 3;
      waits_us[one.place] := refreshed + one.window_us - at_us;
      CONTINUE;
    END IF;
    IF at_us >= refreshed + one.window_us THEN
      refreshed := at_us;
      used := 0;
    END IF;
    used := used + one.cost;
    sent := sent + 1;
    results[one.place] := 0;
    IF one.key <> '' THEN
      INSERT INTO gateway_key AS k (taken_us, user_id, key, message_id, digest)
      VALUES (at_us, one.user_id, one.key, one.id, one.digest)
          ON CONFLICT (user_id, key) DO UPDATE
         SET taken_us = excluded.taken_us, message_id = excluded.message_id, digest = excluded.digest;
    END IF;
  END LOOP;
  IF sent > 0 THEN
    changed_user := changed_user || this_user;
    changed_used := changed_used || used;
    changed_refreshed := changed_refreshed || refreshed;
    changed_sent := changed_sent || sent;
  END IF;
  IF cardinality(changed_user) = 0 THEN RETURN; END IF;

  UPDATE gateway_quota q SET used = c.used, refreshed_us = c.refreshed_us
    FROM unnest(changed_user, changed_used, changed_refreshed) AS c(user_id, used, refreshed_us)
   WHERE q.user_id = c.user_id;
  INSERT INTO gateway_usage AS g (user_id, minute_us, sent, limited, failed)
  SELECT c.user_id, at_us - at_us % 60000000, c.sent, 0, 0
    FROM unnest(changed_user, changed_sent) AS c(user_id, sent) ORDER BY c.user_id
      ON CONFLICT (user_id, minute_us) DO UPDATE SET sent = g.sent + excluded.sent;
  SELECT array_agg(n.id ORDER BY n.id), array_agg(n.context ORDER BY n.id),
         array_agg(n.digest ORDER BY n.id)
    INTO taken_ids, taken_contexts, taken_digests
    FROM unnest(ids, contexts, digests) WITH ORDINALITY AS n(id, context, digest, place)
   WHERE results[n.place] = 0;
  PERFORM enqueue_items(ARRAY['SMS'], array_fill(1, ARRAY[cardinality(taken_ids)]), taken_ids,
                        array_fill(at_us - at_us % 1000, ARRAY[cardinality(taken_ids)]),
                        taken_contexts, taken_digests, '{}', true, at_us);
END
$$;

-- Caller: QuotaGate::charge. Index: gateway_quota_pkey. Locks: the quotas of all users of the batch,
-- ascending, before anything is read of them.
-- Charges the costs of each user in the order of the arrays, as core::charge_quota. Answers for each what
-- became of it as ChargeResult numbers it, the window that it was charged to, and until when a limited one
-- has to wait.
CREATE OR REPLACE FUNCTION gateway_charge(
  IN users integer[], IN costs bigint[], IN now_us bigint,
  OUT results integer[], OUT windows_us bigint[], OUT waits_us bigint[])
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  at_us bigint;
  -- The quotas that are there, locked.
  quota_user integer[];
  quota_limit bigint[];
  quota_window bigint[];
  quota_used bigint[];
  quota_refreshed bigint[];
  -- The user whose charges are looked at.
  one record;
  this_user integer;
  used bigint;
  refreshed bigint;
  charged boolean := false;
  -- Those with anything charged.
  changed_user integer[] := '{}';
  changed_used bigint[] := '{}';
  changed_refreshed bigint[] := '{}';
BEGIN
  SELECT array_agg(q.user_id), array_agg(q.rate_limit), array_agg(q.window_min * 60000000),
         array_agg(q.used), array_agg(q.refreshed_us)
    INTO quota_user, quota_limit, quota_window, quota_used, quota_refreshed
    FROM (SELECT * FROM gateway_quota g WHERE g.user_id = ANY (users) ORDER BY g.user_id FOR UPDATE) q;
  at_us := coalesce(now_us, epoch_us());
  IF at_us < ANY (quota_refreshed) THEN
    PERFORM gateway_begin_by(users, at_us);
    quota_refreshed := ARRAY(SELECT least(r.us, at_us) FROM unnest(quota_refreshed) WITH ORDINALITY AS r(us, ord)
                              ORDER BY r.ord);
  END IF;
  results := array_fill(3, ARRAY[cardinality(users)]);
  windows_us := array_fill(0::bigint, ARRAY[cardinality(users)]);
  waits_us := windows_us;

  FOR one IN
    SELECT n.place::integer AS place, n.user_id, n.cost, q.rate_limit, q.window_us,
           q.used AS first_used, q.refreshed_us AS first_refreshed
      FROM unnest(users, costs) WITH ORDINALITY AS n(user_id, cost, place)
      JOIN unnest(quota_user, quota_limit, quota_window, quota_used, quota_refreshed)
           AS q(user_id, rate_limit, window_us, used, refreshed_us) ON q.user_id = n.user_id
     ORDER BY n.user_id, n.place
  LOOP
    IF this_user IS DISTINCT FROM one.user_id THEN
      IF charged THEN
        changed_user := changed_user || this_user;
        changed_used := changed_used || used;
        changed_refreshed := changed_refreshed || refreshed;
      END IF;
      this_user := one.user_id;
      used := one.first_used;
      refreshed := one.first_refreshed;
      charged := false;
    END IF;
    IF one.cost > one.rate_limit THEN
      results[one.place] := 2;
      CONTINUE;
    END IF;
    IF at_us < refreshed + one.window_us AND used + one.cost > one.rate_limit THEN
      results[one.place] := 1;
      waits_us[one.place] := refreshed + one.window_us - at_us;
      CONTINUE;
    END IF;
    IF at_us >= refreshed + one.window_us THEN
      refreshed := at_us;
      used := 0;
    END IF;
    used := used + one.cost;
    charged := true;
    results[one.place] := 0;
    windows_us[one.place] := refreshed;
  END LOOP;
  IF charged THEN
    changed_user := changed_user || this_user;
    changed_used := changed_used || used;
    changed_refreshed := changed_refreshed || refreshed;
  END IF;
  UPDATE gateway_quota q SET used = c.used, refreshed_us = c.refreshed_us
    FROM unnest(changed_user, changed_used, changed_refreshed) AS c(user_id, used, refreshed_us)
   WHERE q.user_id = c.user_id;
END
$$;

-- Caller: QuotaLedger::lease. Index: as gateway_hold_quotas. Locks: the epoch, shared; then as
-- gateway_hold_quotas.
-- Charges ahead for users, each once: what is needed now, at least chunk_min and a chunk_part-th of the limit,
-- at most what is left. leasts: the smallest cost that waits; if a window could never hold even that, none
-- begins. Answers whether the epoch is open (else nothing else), and for each user what became of it as
-- LeaseResult numbers it, its limit, its window, when that ends, what was leased, whether that is all there
-- is, and the stamp.
CREATE OR REPLACE FUNCTION gateway_lease_quotas(
  IN this_epoch bigint, IN users integer[], IN needs bigint[], IN leasts bigint[], IN chunk_min bigint,
  IN chunk_part bigint, IN now_us bigint,
  OUT is_current boolean, OUT at_us bigint, OUT results integer[], OUT limits bigint[], OUT windows_us bigint[],
  OUT ends_us bigint[], OUT froms bigint[], OUT tos bigint[], OUT fulls integer[], OUT stamps bigint[])
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  one record;
  places integer := cardinality(users);
  this_used bigint;
  this_refreshed bigint;
  granted bigint;
  known boolean;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1885434741, 0);
  SELECT c.is_open AND c.epoch = this_epoch INTO is_current FROM gateway_cache c;
  IF NOT is_current THEN RETURN; END IF;
  PERFORM gateway_hold_quotas(users);
  at_us := coalesce(now_us, epoch_us());
  PERFORM gateway_begin_by(users, at_us);
  results := array_fill(1, ARRAY[places]);
  limits := array_fill(0::bigint, ARRAY[places]);
  windows_us := limits;
  ends_us := limits;
  froms := limits;
  tos := limits;
  fulls := array_fill(0, ARRAY[places]);
  stamps := limits;
  FOR one IN
    SELECT n.place::integer AS place, n.user_id, n.need, n.least, q.rate_limit,
           q.window_min * 60000000 AS window_us, q.used, q.refreshed_us, l.refreshed_us AS lease_refreshed,
           l.ceiling, l.stamp
      FROM unnest(users, needs, leasts) WITH ORDINALITY AS n(user_id, need, least, place)
      JOIN gateway_quota q ON q.user_id = n.user_id
      LEFT JOIN gateway_lease l ON l.user_id = n.user_id
     ORDER BY n.user_id
  LOOP
    IF one.least > one.rate_limit THEN
      results[one.place] := 2;
      CONTINUE;
    END IF;
    this_used := one.used;
    this_refreshed := one.refreshed_us;
    IF at_us >= this_refreshed + one.window_us THEN
      this_refreshed := at_us;
      this_used := 0;
    END IF;
    granted := least(greatest(one.need, chunk_min, one.rate_limit / chunk_part),
                     one.rate_limit - this_used);
    granted := greatest(granted, 0);
    known := one.lease_refreshed IS NOT DISTINCT FROM this_refreshed;
    results[one.place] := 0;
    limits[one.place] := one.rate_limit;
    windows_us[one.place] := this_refreshed;
    ends_us[one.place] := this_refreshed + one.window_us;
    froms[one.place] := CASE WHEN known THEN one.ceiling ELSE this_used END;
    tos[one.place] := froms[one.place] + granted;
    fulls[one.place] := CASE WHEN this_used + granted >= one.rate_limit THEN 1 ELSE 0 END;
    stamps[one.place] := CASE WHEN known THEN one.stamp + 4294967296 ELSE 0 END;
    IF granted > 0 OR this_refreshed <> one.refreshed_us THEN
      UPDATE gateway_quota q SET used = this_used + granted, refreshed_us = this_refreshed
       WHERE q.user_id = one.user_id;
    END IF;
    INSERT INTO gateway_lease AS l (epoch, refreshed_us, ceiling, count, version, stamp, checked_us, user_id)
    VALUES (this_epoch, this_refreshed, tos[one.place], this_used, 0, stamps[one.place], 0, one.user_id)
        ON CONFLICT (user_id) DO UPDATE
       SET epoch = excluded.epoch, refreshed_us = excluded.refreshed_us, ceiling = excluded.ceiling,
           stamp = excluded.stamp,
           count = CASE WHEN known THEN l.count ELSE excluded.count END,
           version = CASE WHEN known THEN l.version ELSE 0 END,
           checked_us = CASE WHEN known THEN l.checked_us ELSE 0 END;
  END LOOP;
END
$$;

-- Caller: QuotaLedger::charge. Index: as gateway_hold_quotas. Locks: as gateway_hold_quotas.
-- Charges the costs of each user in the order of the arrays, as core::charge_quota, while the cache does not.
-- Answers for each what became of it as ChargeResult numbers it, or 4: that depends on what the cache still
-- has, which is known once its epoch is settled; the window that it was charged to; and until when a limited
-- one has to wait.
CREATE OR REPLACE FUNCTION gateway_charge_past_cache(
  IN users integer[], IN costs bigint[], IN now_us bigint,
  OUT results integer[], OUT windows_us bigint[], OUT waits_us bigint[])
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  at_us bigint;
  -- The user whose charges are looked at.
  one record;
  this_user integer;
  used bigint;
  refreshed bigint;
  charged boolean := false;
  in_doubt boolean := false;
  -- Those with anything charged.
  changed_user integer[] := '{}';
  changed_used bigint[] := '{}';
  changed_refreshed bigint[] := '{}';
BEGIN
  PERFORM gateway_hold_quotas(users);
  at_us := coalesce(now_us, epoch_us());
  PERFORM gateway_begin_by(users, at_us);
  results := array_fill(3, ARRAY[cardinality(users)]);
  windows_us := array_fill(0::bigint, ARRAY[cardinality(users)]);
  waits_us := windows_us;

  FOR one IN
    SELECT n.place::integer AS place, n.user_id, n.cost, q.rate_limit, q.window_min * 60000000 AS window_us,
           q.used AS first_used, q.refreshed_us AS first_refreshed, l.refreshed_us AS lease_refreshed
      FROM unnest(users, costs) WITH ORDINALITY AS n(user_id, cost, place)
      JOIN gateway_quota q ON q.user_id = n.user_id
      LEFT JOIN gateway_lease l ON l.user_id = n.user_id AND l.ceiling > l.count
     ORDER BY n.user_id, n.place
  LOOP
    IF this_user IS DISTINCT FROM one.user_id THEN
      IF charged THEN
        changed_user := changed_user || this_user;
        changed_used := changed_used || used;
        changed_refreshed := changed_refreshed || refreshed;
      END IF;
      this_user := one.user_id;
      used := one.first_used;
      refreshed := one.first_refreshed;
      charged := false;
      in_doubt := false;
    END IF;
    IF one.cost > one.rate_limit THEN
      results[one.place] := 2;
      CONTINUE;
    END IF;
    IF in_doubt THEN
      results[one.place] := 4;
      CONTINUE;
    END IF;
    IF at_us < refreshed + one.window_us AND used + one.cost > one.rate_limit THEN
      in_doubt := one.lease_refreshed IS NOT DISTINCT FROM refreshed;
      results[one.place] := CASE WHEN in_doubt THEN 4 ELSE 1 END;
      waits_us[one.place] := refreshed + one.window_us - at_us;
      CONTINUE;
    END IF;
    IF at_us >= refreshed + one.window_us THEN
      refreshed := at_us;
      used := 0;
    END IF;
    used := used + one.cost;
    charged := true;
    results[one.place] := 0;
    windows_us[one.place] := refreshed;
  END LOOP;
  IF charged THEN
    changed_user := changed_user || this_user;
    changed_used := changed_used || used;
    changed_refreshed := changed_refreshed || refreshed;
  END IF;
  UPDATE gateway_quota q SET used = c.used, refreshed_us = c.refreshed_us
    FROM unnest(changed_user, changed_used, changed_refreshed) AS c(user_id, used, refreshed_us)
   WHERE q.user_id = c.user_id;
END
$$;
