-- Caller: QuotaLedger::charge. Index: as gateway_hold_quotas. Locks: as gateway_hold_quotas.
-- Charges the costs of each user in the order of the arrays, as core::charge_quota, while the cache does not.
-- Answers for each what became of it as ChargeResult numbers it, or 4: that depends on what the cache still
-- has, which is known once its epoch is settled; the window that it was charged to; and until when a limited
-- one has to wait.
CREATE FUNCTION gateway_charge_past_cache(
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
