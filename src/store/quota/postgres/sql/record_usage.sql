-- Caller: QuotaStore::record. Index: gateway_usage_pkey. Locks: the rows, ascending by user and minute, as
-- the arrays are, without duplicates.
INSERT INTO penstock.gateway_usage AS g (user_id, minute_us, sent, limited, failed)
SELECT n.user_id, n.minute_us, n.sent, n.limited, n.failed
  FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
       AS n(user_id, minute_us, sent, limited, failed)
    ON CONFLICT (user_id, minute_us) DO UPDATE
   SET sent = g.sent + excluded.sent, limited = g.limited + excluded.limited,
       failed = g.failed + excluded.failed
