-- Caller: functions and statements of this schema. Index: dispatch_type_name. Locks: none. The number of
-- the items' type; null when there was none yet.
CREATE FUNCTION payment_type() RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT t.type_id FROM penstock.dispatch_type t WHERE t.name = 'PAYMENT'
$$;
