-- Caller: SendKeys::settle. Index: gateway_claim_pkey, gateway_key_pkey. Locks: the claims that are still
-- their callers', ascending by user and key, and the keys that are accepted. $5 null = database clock. $4 is the
-- end as KeyEnd numbers it. Answers the places of those that were their callers'.
WITH mine AS MATERIALIZED (
  SELECT c.user_id, c.key, c.message_id, c.digest, n.ending, n.place
    FROM penstock.gateway_claim c
    JOIN unnest($1::integer[], $2::text[], $3::bigint[], $4::integer[]) WITH ORDINALITY
         AS n(user_id, key, stamp, ending, place)
      ON c.user_id = n.user_id AND c.key = n.key COLLATE "C" AND c.claimed_us = n.stamp
   ORDER BY c.user_id, c.key FOR UPDATE OF c),
gone AS (
  DELETE FROM penstock.gateway_claim c USING mine m
   WHERE c.user_id = m.user_id AND c.key = m.key AND m.ending < 2),
kept_open AS (
  UPDATE penstock.gateway_claim c SET is_left = true FROM mine m
   WHERE c.user_id = m.user_id AND c.key = m.key AND m.ending = 2),
accepted AS (
  INSERT INTO penstock.gateway_key AS k (taken_us, user_id, key, message_id, digest)
  SELECT coalesce($5::bigint, penstock.epoch_us()), m.user_id, m.key, m.message_id, m.digest
    FROM mine m WHERE m.ending = 0 ORDER BY m.user_id, m.key
      ON CONFLICT (user_id, key) DO UPDATE
     SET taken_us = excluded.taken_us, message_id = excluded.message_id, digest = excluded.digest)
SELECT m.place FROM mine m
