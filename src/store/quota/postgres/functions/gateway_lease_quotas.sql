-- Caller: QuotaLedger::lease. Index: as gateway_hold_quotas. Locks: the epoch, shared; then as
-- gateway_hold_quotas.
-- Charges ahead for users, each once: what is needed now, at least chunk_min and a chunk_part-th of the limit,
-- at most what is left. leasts: the smallest cost that waits; if a window could never hold even that, none
-- begins. Answers whether the epoch is open (else nothing else), and for each user what became of it as
-- LeaseResult numbers it, its limit, its window, when that ends, what was leased, whether that is all there
-- is, and the stamp.
CREATE FUNCTION gateway_lease_quotas(
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
