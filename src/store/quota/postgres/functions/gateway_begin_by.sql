-- Caller: gateway_send, gateway_charge, gateway_lease_quotas, gateway_charge_past_cache, all holding the quotas.
-- Index: gateway_quota_pkey. Locks: none more.
-- A clock that was ahead leaves windows behind that begin in the future: they begin now, with what was used of
-- them, so that nobody waits longer than one window. This is written down even if nothing is charged, or they
-- would begin anew with every call.
CREATE FUNCTION gateway_begin_by(IN users integer[], IN at_us bigint) RETURNS void
LANGUAGE sql VOLATILE
SET search_path = penstock, pg_temp
AS $$
  UPDATE gateway_quota q SET refreshed_us = at_us WHERE q.user_id = ANY (users) AND q.refreshed_us > at_us;
$$;
