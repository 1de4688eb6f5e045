-- Caller: SendKeys::look. Index: gateway_key_pkey, gateway_claim_pkey. Locks: none. $6 null = database clock.
-- Answers, in the order of the arrays, what each key is as KeyState numbers it, and its message's id.
SELECT CASE WHEN k.key IS NOT NULL THEN CASE WHEN k.digest = n.digest THEN 1 ELSE 2 END
            WHEN c.key IS NULL THEN 0
            WHEN c.digest <> n.digest THEN 2
            WHEN c.is_left OR c.claimed_us + $4::bigint <= t.now_us THEN 4
            ELSE 3 END,
       coalesce(k.message_id, c.message_id, '')
  FROM (SELECT coalesce($6::bigint, penstock.epoch_us()) AS now_us OFFSET 0) t
 CROSS JOIN unnest($1::integer[], $2::text[], $3::bytea[]) WITH ORDINALITY
            AS n(user_id, key, digest, place)
  LEFT JOIN LATERAL (SELECT g.key, g.digest, g.message_id FROM penstock.gateway_key g
                      WHERE g.user_id = n.user_id AND g.key = n.key COLLATE "C"
                        AND g.taken_us > t.now_us - $5::bigint OFFSET 0) k ON true
  LEFT JOIN LATERAL (SELECT g.key, g.digest, g.message_id, g.is_left, g.claimed_us
                       FROM penstock.gateway_claim g
                      WHERE g.user_id = n.user_id AND g.key = n.key COLLATE "C" OFFSET 0) c ON true
 ORDER BY n.place
