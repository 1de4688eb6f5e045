-- Caller: LimitStore::list. Index: throttle_usage_pkey. Locks: none. $3 null = database clock.
SELECT u.key, u.record, n.now_us
  FROM (SELECT coalesce($3::bigint, penstock.epoch_us()) AS now_us OFFSET 0) n
 CROSS JOIN LATERAL (SELECT t.key, t.record FROM penstock.throttle_usage t
                      WHERE t.key > $1::bytea AND t.idle_at_us > n.now_us
                        AND octet_length(t.record) > 0
                      ORDER BY t.key LIMIT $2::bigint) u
 ORDER BY u.key
