-- Caller: penstock migrate. Locks: creates a new table only.
-- Every attempt to send a message, for who asks for more than counts (gateway.attempts). `outcome`: 0 sent, 1 limited,
-- 2 failed; `message_id` of one that was sent; `message` is its text as bytes (it may have a NUL), '' = not kept.
CREATE TABLE gateway_attempt (
  at_us bigint NOT NULL,
  number bigint NOT NULL,
  user_id integer NOT NULL,
  outcome integer NOT NULL CONSTRAINT gateway_attempt_outcome CHECK (outcome BETWEEN 0 AND 2),
  message_id text COLLATE "C" NOT NULL,
  message bytea NOT NULL,
  CONSTRAINT gateway_attempt_pkey PRIMARY KEY (at_us, number)
);
