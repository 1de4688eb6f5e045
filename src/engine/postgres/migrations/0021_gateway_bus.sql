-- Caller: penstock migrate. Locks: creates a new table only. All times are microseconds since the epoch.

-- Idempotency keys of messages that are on their way to a bus outside of the database. A row lives as
-- long as its request; what a crash leaves is taken again, or forgotten with the keys of that day.
CREATE TABLE gateway_claim (
  claimed_us bigint NOT NULL,
  user_id integer NOT NULL,
  is_left boolean NOT NULL,  -- its owner does not know what came of it
  key text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  CONSTRAINT gateway_claim_pkey PRIMARY KEY (user_id, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX gateway_claim_claimed ON gateway_claim (claimed_us);

-- Caller: QuotaGate::charge. Index: gateway_quota_pkey. Locks: the quotas of all users of the batch,
-- ascending, before anything is read of them.
-- Charges the costs of each user in the order of the arrays, as core::charge_quota. Answers for each what
-- became of it as ChargeResult numbers it, the window that it was charged to, and until when a limited one
-- has to wait.
CREATE FUNCTION gateway_charge(
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

-- Caller: SendKeys::claim. Index: gateway_claim_pkey, gateway_key_pkey. Locks: the claims of the keys,
-- ascending by user and key. A key is looked for among those that were accepted only behind the claim:
-- whoever accepts it gives up its claim in the same transaction.
-- Answers for each what it was, as KeyState numbers it; the stamp of the claim when it is the caller's now;
-- and the places and message ids of those that have one of another request.
CREATE FUNCTION gateway_claim_keys(
  IN users integer[], IN keys text[], IN digests bytea[], IN ids text[], IN live_us bigint,
  IN key_term_us bigint, IN now_us bigint,
  OUT states integer[], OUT stamps bigint[], OUT known_place integer[], OUT known_id text[])
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  at_us bigint := coalesce(now_us, epoch_us());
  one record;
  known_digest bytea;
  known_message text;
  claimed_message text;
  stamp bigint;
BEGIN
  states := array_fill(0, ARRAY[cardinality(users)]);
  stamps := array_fill(0::bigint, ARRAY[cardinality(users)]);
  known_place := '{}';
  known_id := '{}';
  FOR one IN
    SELECT n.place::integer AS place, n.user_id, n.key, n.digest, n.id
      FROM unnest(users, keys, digests, ids) WITH ORDINALITY AS n(user_id, key, digest, id, place)
     ORDER BY n.user_id, n.key COLLATE "C", n.place
  LOOP
    INSERT INTO gateway_claim AS c (claimed_us, user_id, is_left, key, message_id, digest)
    VALUES (at_us, one.user_id, false, one.key, one.id, one.digest)
        ON CONFLICT (user_id, key) DO UPDATE
       SET claimed_us = greatest(excluded.claimed_us, c.claimed_us + 1), is_left = false
     WHERE c.digest = excluded.digest AND (c.is_left OR c.claimed_us + live_us <= excluded.claimed_us)
    RETURNING c.claimed_us, c.message_id INTO stamp, claimed_message;
    IF NOT FOUND THEN
      SELECT c.digest INTO known_digest FROM gateway_claim c
       WHERE c.user_id = one.user_id AND c.key = one.key;
      states[one.place] := CASE WHEN known_digest = one.digest THEN 3 ELSE 2 END;
      CONTINUE;
    END IF;
    SELECT k.digest, k.message_id INTO known_digest, known_message FROM gateway_key k
     WHERE k.user_id = one.user_id AND k.key = one.key AND k.taken_us > at_us - key_term_us;
    IF FOUND THEN
      DELETE FROM gateway_claim c WHERE c.user_id = one.user_id AND c.key = one.key;
      states[one.place] := CASE WHEN known_digest = one.digest THEN 1 ELSE 2 END;
      CONTINUE WHEN known_digest <> one.digest;
    ELSE
      stamps[one.place] := stamp;
      CONTINUE WHEN claimed_message = one.id;
      states[one.place] := 4;
      known_message := claimed_message;
    END IF;
    known_place := known_place || one.place;
    known_id := known_id || known_message;
  END LOOP;
END
$$;
