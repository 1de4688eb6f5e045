-- Caller: penstock migrate. Locks: creates new tables only.
-- docs/decisions/0040-postgres-queue.md says why it is cut this way. All times are microseconds since
-- the epoch.

-- A number for each name of an item type: keys stay narrow. Never changed, never deleted.
CREATE TABLE dispatch_type (
  type_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  CONSTRAINT dispatch_type_name UNIQUE (name)
);

-- What was asked for, one row for each item until it is forgotten. Written once; only a retry or a
-- redrive changes it (due_us, HOT). Context and digest are bytes: no encoding of the database can
-- refuse or alter them.
CREATE TABLE dispatch_item (
  item_no bigint NOT NULL,       -- its number, ascending as items come in: see dispatch_audit
  due_us bigint NOT NULL,        -- where the item stands in dispatch_queue, or stood last
  scheduled_us bigint NOT NULL,  -- as it was asked for, or its slot's
  created_us bigint NOT NULL,
  type_id integer NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  context bytea NOT NULL,
  CONSTRAINT dispatch_item_pkey PRIMARY KEY (type_id, item_id)
) WITH (fillfactor = 95, autovacuum_vacuum_scale_factor = 0.05);
CREATE SEQUENCE dispatch_item_no AS bigint;  -- one for each batch of items

-- The items that are READY (batch = 0) or CLAIMED, in the order in which they are due. A claim changes
-- columns that no index knows: with half of each page left free it is a HOT update, even when all
-- rows of a page are claimed by one transaction. A settlement deletes the row; a retry makes a new
-- one.
CREATE TABLE dispatch_queue (
  item_no bigint NOT NULL,
  due_us bigint NOT NULL,
  claimed_us bigint NOT NULL DEFAULT 0,
  token bigint NOT NULL DEFAULT 0,
  batch bigint NOT NULL DEFAULT 0,
  type_id integer NOT NULL,
  retry_count integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  entries integer NOT NULL DEFAULT 0,  -- rows of the item in dispatch_audit
  item_id text COLLATE "C" NOT NULL,
  CONSTRAINT dispatch_queue_pkey PRIMARY KEY (type_id, due_us, item_id)
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0);

-- What became of items: one row for each attempt that ended, and for each other change. Rows are
-- inserted and, with their item, deleted; never changed. A row tells of a claim (claimed_us,
-- claim_batch; null when the change needed none) and of its end. A claim under way is in
-- dispatch_queue, and when the item came in, in dispatch_item: that is the whole story, and each
-- transition is written once. The last row of an item that is not in dispatch_queue is its state.
-- The key is the item's number, not its id: items that are settled together came in together, so the
-- b-tree is written in a few pages instead of all over.
-- action: 1 CLAIMED (and lost to another claim), 2 DISPATCHED, 3 DISPATCH_FAILED, 4 RETURNED, 5 DEAD,
-- 6 CANCELLED, 7 REDRIVEN, 8 DEAD because no retries were left when it was to be claimed.
CREATE TABLE dispatch_audit (
  item_no bigint NOT NULL,
  at_us bigint NOT NULL,
  claimed_us bigint,
  claim_batch bigint,
  entry integer NOT NULL,        -- from 1 for each item
  attempts integer NOT NULL,     -- afterwards
  retry_count integer NOT NULL,  -- afterwards
  action smallint NOT NULL,
  batch text,  -- where it was settled by another name than 'b' || claim_batch
  detail bytea,
  CONSTRAINT dispatch_audit_pkey PRIMARY KEY (item_no, entry)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE SEQUENCE dispatch_batch AS bigint;

-- Which items were settled when, one row for each call that settled some: what forget_items walks.
CREATE TABLE dispatch_settled (
  settled_us bigint NOT NULL,
  settled_no bigint GENERATED ALWAYS AS IDENTITY,
  type_id integer NOT NULL,
  items text[] NOT NULL,
  CONSTRAINT dispatch_settled_pkey PRIMARY KEY (type_id, settled_us, settled_no)
) WITH (toast_tuple_target = 8160);
ALTER TABLE dispatch_settled ALTER items SET STORAGE EXTERNAL;

-- Items that are DEAD, so that people can be shown them: a row comes and goes with the state.
CREATE TABLE dispatch_dead (
  died_us bigint NOT NULL,
  type_id integer NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  CONSTRAINT dispatch_dead_pkey PRIMARY KEY (type_id, item_id)
);
CREATE INDEX dispatch_dead_time ON dispatch_dead (type_id, died_us DESC, item_id);

-- How many items are in which state: dispatch_total and the sum of the changes since. Each call adds
-- one row for each type; fold_counts moves them into the total. What `written` says below `below` is
-- folded; searches begin there, since a held snapshot keeps the deleted rows before it.
CREATE TABLE dispatch_change (
  written xid8 NOT NULL DEFAULT pg_current_xact_id(),
  type_id integer NOT NULL,
  ready integer NOT NULL,
  claimed integer NOT NULL,
  dispatched integer NOT NULL,
  dead integer NOT NULL,
  cancelled integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX dispatch_change_type ON dispatch_change (type_id, written);
CREATE TABLE dispatch_total (
  below xid8 NOT NULL DEFAULT '0',
  ready bigint NOT NULL DEFAULT 0,
  claimed bigint NOT NULL DEFAULT 0,
  dispatched bigint NOT NULL DEFAULT 0,
  dead bigint NOT NULL DEFAULT 0,
  cancelled bigint NOT NULL DEFAULT 0,
  type_id integer NOT NULL,
  CONSTRAINT dispatch_total_pkey PRIMARY KEY (type_id)
) WITH (fillfactor = 50);

-- Who dispatches a type, and the newest token that has claimed: older ones are fenced off.
CREATE TABLE dispatch_lease (
  token bigint NOT NULL DEFAULT 0,
  claim_token bigint NOT NULL DEFAULT 0,
  until_us bigint NOT NULL DEFAULT 0,
  paused_until_us bigint NOT NULL DEFAULT 0,
  type_id integer NOT NULL,
  node text NOT NULL DEFAULT '',  -- '' = nobody
  CONSTRAINT dispatch_lease_pkey PRIMARY KEY (type_id)
) WITH (fillfactor = 50);

-- All versions of the settings of all types; the highest version counts.
CREATE TABLE dispatch_settings (
  version bigint NOT NULL,
  changed_us bigint NOT NULL,
  item_type text COLLATE "C" NOT NULL,
  document text NOT NULL,  -- JSON; core::ItemTypeSettings says what it holds
  CONSTRAINT dispatch_settings_pkey PRIMARY KEY (item_type, version)
);
-- One row. Every change of settings locks it first: changes come one after the other.
CREATE TABLE dispatch_settings_revision (
  one boolean NOT NULL DEFAULT true CHECK (one) PRIMARY KEY,
  revision bigint NOT NULL
);
INSERT INTO dispatch_settings_revision (revision) VALUES (0);
