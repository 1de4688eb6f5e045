-- Caller: penstock migrate. Locks: creates new tables only. All times are microseconds since the epoch.
-- A cache in front of gateway_quota (docs/decisions/0082). What it may give out is charged in
-- gateway_quota before it gets it, so `used` is never less than what was charged anywhere; a lease says how
-- much of that the cache has, and how much of it is known to be used.

-- The cache as a whole. An epoch is one unbroken life of it: opened by a node, closed by the first that
-- finds the cache failing, settled once every node of it has written down what it saw, or its term is over.
CREATE TABLE gateway_cache (
  epoch bigint NOT NULL,
  is_open boolean NOT NULL,
  is_settled boolean NOT NULL,
  token text COLLATE "C" NOT NULL,  -- what the cache knows the epoch by
  one_row boolean NOT NULL DEFAULT true CHECK (one_row),
  CONSTRAINT gateway_cache_pkey PRIMARY KEY (one_row)
);
INSERT INTO gateway_cache (epoch, is_open, is_settled, token) VALUES (0, false, true, '');

-- Who uses the cache, in which epoch (0 = none), and until when unless it says so again.
CREATE TABLE gateway_cache_node (
  epoch bigint NOT NULL,
  until_us bigint NOT NULL,
  sees_cache boolean NOT NULL,
  node text COLLATE "C" NOT NULL,
  CONSTRAINT gateway_cache_node_pkey PRIMARY KEY (node)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- Epochs of which a node went without writing down what it saw: what nobody looked at since then counts as
-- used. One row for each such outage.
CREATE TABLE gateway_cache_doubt (
  epoch bigint NOT NULL,
  until_us bigint NOT NULL,
  CONSTRAINT gateway_cache_doubt_pkey PRIMARY KEY (epoch)
);

-- What the cache has of a user's quota, in the window that began at refreshed_us. Changed only by who holds
-- the user's row of gateway_quota, but for count, version and checked_us.
CREATE TABLE gateway_lease (
  epoch bigint NOT NULL,
  refreshed_us bigint NOT NULL,
  ceiling bigint NOT NULL,     -- up to here the cache may count
  count bigint NOT NULL,       -- up to here it did when somebody last wrote it down
  version bigint NOT NULL,     -- of that count: the cache numbers its changes
  stamp bigint NOT NULL,       -- where that numbering begins, should the cache lose the entry
  checked_us bigint NOT NULL,  -- when that count was read, at the earliest
  user_id integer NOT NULL,
  CONSTRAINT gateway_lease_pkey PRIMARY KEY (user_id),
  CONSTRAINT gateway_lease_user FOREIGN KEY (user_id) REFERENCES gateway_quota ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- Caller: the functions below. Index: gateway_quota_pkey, gateway_lease_pkey. Locks: the quotas of the users,
-- then their leases, each ascending.
-- Gives back what the leases of settled epochs did not use.
CREATE FUNCTION gateway_hold_quotas(IN users integer[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  PERFORM 1 FROM gateway_quota q WHERE q.user_id = ANY (users) ORDER BY q.user_id FOR UPDATE;
  PERFORM 1 FROM gateway_lease l WHERE l.user_id = ANY (users) ORDER BY l.user_id FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  WITH over AS (
    DELETE FROM gateway_lease l USING gateway_cache c
     WHERE l.user_id = ANY (users) AND (l.epoch < c.epoch OR l.epoch = c.epoch AND c.is_settled)
    RETURNING l.user_id, l.epoch, l.refreshed_us, l.ceiling - l.count AS unused, l.checked_us)
  UPDATE gateway_quota q SET used = greatest(q.used - o.unused, 0)
    FROM over o LEFT JOIN gateway_cache_doubt d ON d.epoch = o.epoch
   WHERE q.user_id = o.user_id AND q.refreshed_us = o.refreshed_us AND o.unused > 0
     AND (d.until_us IS NULL OR d.until_us < o.checked_us);
END
$$;

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

-- Caller: QuotaLedger::return_lease. Index: as gateway_hold_quotas. Locks: as gateway_hold_quotas.
-- What was leased and did not reach the cache.
CREATE FUNCTION gateway_return_lease(
  IN this_epoch bigint, IN user_of integer, IN window_of bigint, IN amount bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  PERFORM gateway_hold_quotas(ARRAY[user_of]);
  UPDATE gateway_lease l SET ceiling = l.ceiling - amount
   WHERE l.user_id = user_of AND l.epoch = this_epoch AND l.refreshed_us = window_of;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE gateway_quota q SET used = greatest(q.used - amount, 0)
   WHERE q.user_id = user_of AND q.refreshed_us = window_of;
END
$$;

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

-- Caller: QuotaLedger::beat. Index: gateway_cache_node_pkey. Locks: the epoch, shared; the node's own row.
-- Says that a node is there, and whether it reaches the cache: then it takes part in an epoch that is open.
-- One that is in an epoch that it cannot go on with stays there, without more time, until it has left it.
CREATE FUNCTION gateway_cache_beat(
  IN this_node text, IN sees boolean, IN term_us bigint,
  OUT epoch bigint, OUT is_open boolean, OUT is_settled boolean, OUT token text, OUT joined boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  mine bigint;
  now_us bigint;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1885434741, 0);
  SELECT c.epoch, c.is_open, c.is_settled, c.token INTO epoch, is_open, is_settled, token
    FROM gateway_cache c;
  now_us := epoch_us();
  mine := CASE WHEN is_open AND sees THEN epoch ELSE 0 END;
  INSERT INTO gateway_cache_node AS n (epoch, until_us, sees_cache, node)
  VALUES (mine, now_us + term_us, sees, this_node)
      ON CONFLICT (node) DO UPDATE
     SET sees_cache = excluded.sees_cache,
         until_us = CASE WHEN n.epoch IN (0, excluded.epoch) THEN excluded.until_us ELSE n.until_us END,
         epoch = CASE WHEN n.epoch = 0 THEN excluded.epoch ELSE n.epoch END
  RETURNING n.epoch INTO mine;
  joined := is_open AND sees AND mine = epoch;
END
$$;

-- Caller: QuotaLedger::close. Index: gateway_cache_node_pkey. Locks: the epoch, alone.
-- Closes the epoch if it is open. this_node has written down what it saw and leaves it. Settles it once nobody
-- is left in it; of who lets its term pass, what it saw is not known. Answers how things stand, and how
-- long at most somebody is still waited for.
CREATE FUNCTION gateway_cache_close(
  IN closing bigint, IN this_node text,
  OUT epoch bigint, OUT is_open boolean, OUT is_settled boolean, OUT token text, OUT wait_us bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  now_us bigint;
  lapsed_us bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1885434741, 0);
  UPDATE gateway_cache c SET is_open = false WHERE c.epoch = closing AND c.is_open;
  UPDATE gateway_cache_node n SET epoch = 0 WHERE n.node = this_node AND n.epoch = closing;
  SELECT c.epoch, c.is_open, c.is_settled, c.token INTO epoch, is_open, is_settled, token
    FROM gateway_cache c;
  wait_us := 0;
  IF is_open OR is_settled THEN RETURN; END IF;
  now_us := epoch_us();
  WITH lapsed AS (
    DELETE FROM gateway_cache_node n WHERE n.epoch = gateway_cache_close.epoch AND n.until_us < now_us
    RETURNING n.until_us)
  SELECT max(l.until_us) INTO lapsed_us FROM lapsed l;
  IF lapsed_us IS NOT NULL THEN
    INSERT INTO gateway_cache_doubt AS d (epoch, until_us) VALUES (gateway_cache_close.epoch, lapsed_us)
        ON CONFLICT (epoch) DO UPDATE SET until_us = greatest(d.until_us, excluded.until_us);
  END IF;
  SELECT coalesce(max(n.until_us) - now_us + 1, 0) INTO wait_us
    FROM gateway_cache_node n WHERE n.epoch = gateway_cache_close.epoch;
  IF wait_us > 0 THEN RETURN; END IF;
  UPDATE gateway_cache c SET is_settled = true;
  is_settled := true;
END
$$;

-- Caller: QuotaLedger::open. Index: gateway_cache_node_pkey. Locks: the epoch, alone.
-- Begins an epoch after `after`, which is settled, with the node in it; named by its time, so that a cache
-- never meets one of another database, or of this one before it was restored, for the same. Unless there is a node that does not
-- reach the cache and thus would have to charge past it.
CREATE FUNCTION gateway_cache_open(
  IN after bigint, IN this_node text, IN new_token text, IN term_us bigint,
  OUT epoch bigint, OUT is_open boolean, OUT is_settled boolean, OUT token text, OUT joined boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  now_us bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1885434741, 0);
  now_us := epoch_us();
  joined := false;
  IF EXISTS (SELECT 1 FROM gateway_cache c WHERE c.epoch = after AND NOT c.is_open AND c.is_settled)
     AND NOT EXISTS (SELECT 1 FROM gateway_cache_node n
                      WHERE NOT n.sees_cache AND n.until_us >= now_us AND n.node <> this_node) THEN
    DELETE FROM gateway_cache_node n WHERE n.until_us < now_us;
    UPDATE gateway_cache c
       SET epoch = greatest(after + 1, now_us), is_open = true, is_settled = false, token = new_token
    RETURNING c.epoch INTO epoch;
    INSERT INTO gateway_cache_node AS n (epoch, until_us, sees_cache, node)
    VALUES (gateway_cache_open.epoch, now_us + term_us, true, this_node)
        ON CONFLICT (node) DO UPDATE
       SET epoch = excluded.epoch, until_us = excluded.until_us, sees_cache = true;
    joined := true;
  END IF;
  SELECT c.epoch, c.is_open, c.is_settled, c.token INTO epoch, is_open, is_settled, token
    FROM gateway_cache c;
END
$$;
