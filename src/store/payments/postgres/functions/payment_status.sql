-- Caller: functions and statements of this schema. Index: payment_change_pkey. Locks: none.
CREATE FUNCTION payment_status(number bigint, first_status smallint) RETURNS integer
LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT c.status FROM penstock.payment_change c
                    WHERE c.payment_no = number ORDER BY c.entry DESC LIMIT 1),
                  first_status)::integer
$$;
