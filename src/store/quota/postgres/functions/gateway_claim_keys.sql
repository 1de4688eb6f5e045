-- Caller: SendKeys::claim. Index: gateway_claim_pkey, gateway_key_pkey. Locks: the claims of the keys,
-- ascending by user and key. A key is looked for among those that were accepted only behind the claim:
-- whoever accepts it gives up its claim in the same transaction.
-- Answers for each what it was, as KeyState numbers it; the stamp of the claim when it is the caller's now;
-- and the places and message ids of those that have one of another request.
CREATE FUNCTION gateway_claim_keys(
  IN users integer[], IN keys text[], IN digests bytea[], IN ids text[], IN live_us bigint,
  IN key_term_us bigint, IN now_us bigint,
  OUT states integer[], OUT stamps bigint[], OUT known_place integer[], OUT known_id text[])
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  at_us bigint := coalesce(now_us, epoch_us());
  one record;
  known_digest bytea;
  known_message text;
  claimed_message text;
  stamp bigint;
BEGIN
  states := array_fill(0, ARRAY[cardinality(users)]);
  stamps := array_fill(0::bigint, ARRAY[cardinality(users)]);
  known_place := '{}';
  known_id := '{}';
  FOR one IN
    SELECT n.place::integer AS place, n.user_id, n.key, n.digest, n.id
      FROM unnest(users, keys, digests, ids) WITH ORDINALITY AS n(user_id, key, digest, id, place)
     ORDER BY n.user_id, n.key COLLATE "C", n.place
  LOOP
    INSERT INTO gateway_claim AS c (claimed_us, user_id, is_left, key, message_id, digest)
    VALUES (at_us, one.user_id, false, one.key, one.id, one.digest)
        ON CONFLICT (user_id, key) DO UPDATE
       SET claimed_us = greatest(excluded.claimed_us, c.claimed_us + 1), is_left = false
     WHERE c.digest = excluded.digest AND (c.is_left OR c.claimed_us + live_us <= excluded.claimed_us)
    RETURNING c.claimed_us, c.message_id INTO stamp, claimed_message;
    IF NOT FOUND THEN
      SELECT c.digest INTO known_digest FROM gateway_claim c
       WHERE c.user_id = one.user_id AND c.key = one.key;
      states[one.place] := CASE WHEN known_digest = one.digest THEN 3 ELSE 2 END;
      CONTINUE;
    END IF;
    SELECT k.digest, k.message_id INTO known_digest, known_message FROM gateway_key k
     WHERE k.user_id = one.user_id AND k.key = one.key AND k.taken_us > at_us - key_term_us;
    IF FOUND THEN
      DELETE FROM gateway_claim c WHERE c.user_id = one.user_id AND c.key = one.key;
      states[one.place] := CASE WHEN known_digest = one.digest THEN 1 ELSE 2 END;
      CONTINUE WHEN known_digest <> one.digest;
    ELSE
      stamps[one.place] := stamp;
      CONTINUE WHEN claimed_message = one.id;
      states[one.place] := 4;
      known_message := claimed_message;
    END IF;
    known_place := known_place || one.place;
    known_id := known_id || known_message;
  END LOOP;
END
$$;
