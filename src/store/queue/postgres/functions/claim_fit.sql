-- Caller: QueueStore::claim, before claim_items. Index: dispatch_queue_pkey, dispatch_item_pkey. Locks: none.
-- How many of the items that claim_items would take have contexts of at most `bytes_max` bytes together; the
-- one that comes to it is the last, so it is at least one. Sizes are read without the contexts themselves.
-- An item that arrives between the two functions may be larger than the one that was looked at.
CREATE FUNCTION claim_fit(
  type_name text, claim_token bigint, most integer, early_us bigint, stale_us bigint,
  retries_max integer, now_us bigint, from_due_us bigint, from_id text, bytes_max bigint)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off SET jit = off
AS $$
DECLARE
  type integer := (dispatch_types(ARRAY[type_name]))[1];
  low_due bigint := coalesce(from_due_us, -9223372036854775808);
  low_id text := coalesce(from_id, '');
  moment bigint := coalesce(now_us, epoch_us());
  seen integer;
  light integer;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE s.before < bytes_max) INTO seen, light
    FROM (SELECT sum(octet_length(i.context)) OVER (ORDER BY n.due_us, n.item_id)
                 - octet_length(i.context) AS before
            FROM (SELECT q.due_us, q.item_id FROM dispatch_queue q
                   WHERE q.type_id = type AND (q.due_us, q.item_id) >= (low_due, low_id)
                     AND q.due_us <= moment + early_us
                     AND (q.batch = 0 OR q.token < claim_token OR q.claimed_us <= moment - stale_us)
                     AND q.retry_count < retries_max
                   ORDER BY q.due_us, q.item_id LIMIT most) n
           CROSS JOIN LATERAL (SELECT t.context FROM dispatch_item t
                                WHERE t.type_id = type AND t.item_id = n.item_id LIMIT 1) i) s;
  IF light = seen THEN RETURN most; END IF;
  RETURN greatest(light, 1);
END
$$;
