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
