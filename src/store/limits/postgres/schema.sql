-- Caller: penstock migrate. Locks: creates new tables only.

-- The usage of throttle keys, one row for each key in use. `record` is what store/limits/limit_record.h
-- writes; an empty one only holds the place, so that a new key can be locked. From `idle_at_us` on
-- (microseconds since the epoch) the row says nothing any more and may go; until then every batch
-- writes it anew, so nothing but the key is indexed and an update stays on its page (HOT). Half of
-- each page is left free for that: a page is pruned when it fills up, not each time it is read.
CREATE TABLE throttle_usage (
  idle_at_us bigint NOT NULL,
  key bytea NOT NULL,  -- Redis clients may use any bytes
  record bytea NOT NULL,
  CONSTRAINT throttle_usage_pkey PRIMARY KEY (key),
  CHECK (octet_length(key) BETWEEN 1 AND 512)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05,
        autovacuum_vacuum_cost_delay = 0);
-- Only an exact log of thousands of entries is ever longer than a page.
ALTER TABLE throttle_usage ALTER COLUMN record SET STORAGE MAIN;

-- All versions of all policies; the newest of a key is in force unless it is an end (deleted). `document` is
-- what people set, as core/policy/policy.h describes it; json, since a rate keeps its digits as written.
CREATE TABLE throttle_policy (
  policy_id bigint NOT NULL,  -- the same through all versions of a key
  version bigint NOT NULL,
  changed_us bigint NOT NULL,
  newest boolean NOT NULL,
  deleted boolean NOT NULL,
  key text COLLATE "C" NOT NULL,
  document json NOT NULL,
  CONSTRAINT throttle_policy_pkey PRIMARY KEY (key, version)
);
CREATE UNIQUE INDEX throttle_policy_newest ON throttle_policy (key) WHERE newest;

-- One row. Every change of a policy locks it first: changes come one after the other.
CREATE TABLE throttle_policy_revision (
  one boolean NOT NULL DEFAULT true CHECK (one) PRIMARY KEY,
  revision bigint NOT NULL
);
INSERT INTO throttle_policy_revision (revision) VALUES (0);

-- When each node that shares this database last said that it is alive.
CREATE TABLE node_alive (
  seen_at_us bigint NOT NULL,
  node text COLLATE "C" NOT NULL,
  CONSTRAINT node_alive_pkey PRIMARY KEY (node)
) WITH (fillfactor = 50);
