-- Caller: QuotaStore::send. Index: gateway_quota_pkey, gateway_key_pkey, gateway_usage_pkey, and those of
-- enqueue_items. Locks: the quotas of all users of the batch, ascending, before anything is read of
-- them; then only what belongs to these users, ascending.
-- Decides the messages of each user in the order of the arrays (as core::charge_quota), and writes those
-- that are taken: items of type SMS that are due at once, quotas, keys, counts. A key of '' is none.
-- An id that is there already refuses the batch (unique_violation).
-- Answers the moment; for each message what became of it as SendResult numbers it, and until when a
-- limited one has to wait; and the places and message ids of those that came with a known key.
CREATE FUNCTION gateway_send(
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
