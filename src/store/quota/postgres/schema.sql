-- Caller: penstock migrate. Locks: creates new tables only. All times are microseconds since the epoch.

-- Who may send how much, and what is used up of the window. Every message changes columns that no
-- index knows: with half of each page left free it is a HOT update.
CREATE TABLE gateway_quota (
  rate_limit bigint NOT NULL,
  window_min bigint NOT NULL,
  used bigint NOT NULL,
  refreshed_us bigint NOT NULL,
  user_id integer NOT NULL,
  CONSTRAINT gateway_quota_pkey PRIMARY KEY (user_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- Idempotency keys of messages that were taken. Only changed or deleted by who holds its user's row of
-- gateway_quota, or once its term is over.
CREATE TABLE gateway_key (
  taken_us bigint NOT NULL,
  user_id integer NOT NULL,
  key text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  CONSTRAINT gateway_key_pkey PRIMARY KEY (user_id, key)
);
CREATE INDEX gateway_key_taken ON gateway_key (taken_us);

-- Idempotency keys of messages that are on their way to a bus outside of the database. A row lives as
-- long as its request; what a crash leaves is taken again, or forgotten with the keys of that day.
CREATE TABLE gateway_claim (
  claimed_us bigint NOT NULL,
  user_id integer NOT NULL,
  is_left boolean NOT NULL,  -- its owner does not know what came of it
  key text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  CONSTRAINT gateway_claim_pkey PRIMARY KEY (user_id, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX gateway_claim_claimed ON gateway_claim (claimed_us);

-- What users did, by the minute.
CREATE TABLE gateway_usage (
  minute_us bigint NOT NULL,
  sent bigint NOT NULL,
  limited bigint NOT NULL,
  failed bigint NOT NULL,
  user_id integer NOT NULL,
  CONSTRAINT gateway_usage_pkey PRIMARY KEY (user_id, minute_us)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- Pages of all users go by minute and user; what asks for minutes alone finds them here as well.
CREATE INDEX gateway_usage_order ON gateway_usage (minute_us, user_id);

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

-- What providers say of messages that they took, by the provider's own references. A row without a
-- message ('') is a report that came before its part. State by the numbers of core::DeliveryState: from 4
-- on it is final.
CREATE TABLE sms_part (
  written_us bigint NOT NULL,
  state_us bigint NOT NULL,
  part integer NOT NULL,
  parts integer NOT NULL,
  state integer NOT NULL,
  provider text COLLATE "C" NOT NULL,
  reference text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  detail text NOT NULL,
  CONSTRAINT sms_part_pkey PRIMARY KEY (provider, reference)
) WITH (fillfactor = 80);
CREATE INDEX sms_part_message ON sms_part (message_id) WHERE message_id <> '';
CREATE INDEX sms_part_written ON sms_part (written_us);

-- How far usage was handed on, and which node has the turn to do it.
CREATE TABLE gateway_export (
  done_to_us bigint,
  until_us bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  node text NOT NULL,
  CONSTRAINT gateway_export_pkey PRIMARY KEY (name)
);

-- A cache in front of gateway_quota (docs/decisions/0082). What it may give out is charged in
-- gateway_quota before it gets it, so `used` is never less than what was charged anywhere; a lease says how
-- much of that the cache has, and how much of it is known to be used.

-- The cache as a whole. An epoch is one unbroken life of it: opened by a node, closed by the first that
-- finds the cache failing, settled once every node of it has written down what it saw, or its term is over.
CREATE TABLE gateway_cache (
  epoch bigint NOT NULL,
  is_open boolean NOT NULL,
  is_settled boolean NOT NULL,
  token text COLLATE "C" NOT NULL,  -- what the cache knows the epoch by
  one_row boolean NOT NULL DEFAULT true CHECK (one_row),
  CONSTRAINT gateway_cache_pkey PRIMARY KEY (one_row)
);
INSERT INTO gateway_cache (epoch, is_open, is_settled, token) VALUES (0, false, true, '');

-- Who uses the cache, in which epoch (0 = none), and until when unless it says so again.
CREATE TABLE gateway_cache_node (
  epoch bigint NOT NULL,
  until_us bigint NOT NULL,
  sees_cache boolean NOT NULL,
  node text COLLATE "C" NOT NULL,
  CONSTRAINT gateway_cache_node_pkey PRIMARY KEY (node)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- Epochs of which a node went without writing down what it saw: what nobody looked at since then counts as
-- used. One row for each such outage.
CREATE TABLE gateway_cache_doubt (
  epoch bigint NOT NULL,
  until_us bigint NOT NULL,
  CONSTRAINT gateway_cache_doubt_pkey PRIMARY KEY (epoch)
);

-- What the cache has of a user's quota, in the window that began at refreshed_us. Changed only by who holds
-- the user's row of gateway_quota, but for count, version and checked_us.
CREATE TABLE gateway_lease (
  epoch bigint NOT NULL,
  refreshed_us bigint NOT NULL,
  ceiling bigint NOT NULL,     -- up to here the cache may count
  count bigint NOT NULL,       -- up to here it did when somebody last wrote it down
  version bigint NOT NULL,     -- of that count: the cache numbers its changes
  stamp bigint NOT NULL,       -- where that numbering begins, should the cache lose the entry
  checked_us bigint NOT NULL,  -- when that count was read, at the earliest
  user_id integer NOT NULL,
  CONSTRAINT gateway_lease_pkey PRIMARY KEY (user_id),
  CONSTRAINT gateway_lease_user FOREIGN KEY (user_id) REFERENCES gateway_quota ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
