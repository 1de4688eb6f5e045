-- Caller: LeaseStore::acquire. Index: dispatch_type_name, dispatch_lease_pkey. Locks: the row of the
-- type. The clock is read when the row is ours. No row in the answer: another node has the lease.
CREATE FUNCTION acquire_lease(type_name text, asking text, term_us bigint, pause_us bigint,
                              now_us bigint)
RETURNS TABLE (token bigint, fresh boolean, paused_until_us bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  type integer := (dispatch_types(ARRAY[type_name]))[1];
  moment bigint;
  held dispatch_lease;
BEGIN
  LOOP
    SELECT * INTO held FROM dispatch_lease l WHERE l.type_id = type FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO dispatch_lease (type_id) VALUES (type) ON CONFLICT (type_id) DO NOTHING;
  END LOOP;
  moment := coalesce(now_us, epoch_us());
  fresh := held.node <> asking;
  IF fresh AND held.node <> '' AND moment < held.until_us THEN RETURN; END IF;
  IF fresh THEN
    token := greatest(held.token, held.claim_token) + 1;
    paused_until_us := held.paused_until_us;
  ELSE
    token := held.token;
    paused_until_us := pause_us;
  END IF;
  UPDATE dispatch_lease l
     SET node = asking, until_us = moment + term_us, token = acquire_lease.token,
         paused_until_us = acquire_lease.paused_until_us
   WHERE l.type_id = type;
  RETURN NEXT;
END
$$;
