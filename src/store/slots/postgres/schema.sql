-- Caller: penstock migrate. Locks: creates new tables only. Index: see each table.
-- Times are milliseconds since the epoch in bigint (`…_ms`): the resolution of slots, and window
-- arithmetic stays plain integer division, alike in C++ and here. What the clock says is kept in
-- microseconds (`…_us`), as it came. The views show timestamps.

-- One timeline: a pool with one window size. A pool whose size changes gets a second row, so that
-- windows of different sizes never share a counter.
CREATE TABLE slot_pool (
  pool_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  window_size_ms bigint NOT NULL CHECK (window_size_ms > 0),
  returned integer NOT NULL DEFAULT 0,  -- how often places were given back: a full window may not be
  UNIQUE (name, window_size_ms)
);

-- All versions of all configs; the newest of a name is the active one. `document` is what people set, as
-- core/slots/slot_config.h describes it; pool and maximum stand beside it for assign_slots.
CREATE TABLE slot_config (
  config_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  pool_id integer NOT NULL REFERENCES slot_pool,
  version bigint NOT NULL,
  effective_from_us bigint NOT NULL,
  max_per_window integer NOT NULL CHECK (max_per_window > 0),
  active boolean NOT NULL,
  name text COLLATE "C" NOT NULL,
  document json NOT NULL,
  UNIQUE (name, version)
);
CREATE UNIQUE INDEX slot_config_active ON slot_config (name) WHERE active;
CREATE INDEX slot_config_pool ON slot_config (pool_id) WHERE active;

-- How many places of a window are taken. Written only under the pool's advisory lock, once per
-- batch. A charge is a HOT update; every 64th moves the row to its next generation, which is a new
-- index entry. Readers start at the highest generation, so even when a held snapshot keeps every
-- old version alive they pass over fewer than 64 of them.
CREATE TABLE slot_window (
  window_start_ms bigint NOT NULL,
  pool_id integer NOT NULL,
  used integer NOT NULL CHECK (used >= 0),
  charges integer NOT NULL,
  generation integer NOT NULL,
  PRIMARY KEY (pool_id, window_start_ms, generation)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05,
        autovacuum_vacuum_threshold = 1000);

-- Places that a batch has taken from the counters of a pool and not yet given to events. The batch
-- deletes the row in the transaction that inserts the events, and has it locked before it lets the
-- pool go: a row that is not locked while one holds the pool is of a batch that failed. Who finds
-- it lowers the counters and deletes it. windows[i] has lent places[i].
CREATE TABLE slot_reservation (
  reservation_id xid8 NOT NULL,
  pool_id integer NOT NULL,
  places integer[] NOT NULL,
  windows bigint[] NOT NULL,
  PRIMARY KEY (reservation_id, pool_id)
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 1000);
ALTER TABLE slot_reservation ALTER places SET STORAGE EXTERNAL, ALTER windows SET STORAGE EXTERNAL;
-- No reservation below this one is left, and none will come. Searches begin here, since a held
-- snapshot keeps the deleted ones before it. One row.
CREATE TABLE slot_reservation_floor (below xid8 NOT NULL);
INSERT INTO slot_reservation_floor VALUES ('0');

-- The audit record of every assignment. Insert-only on the hot path. No foreign key: its check would
-- cost as much as the insert, and configs are never deleted.
-- Slots that dispatch takes for its items have event ids of their own: a space, then
-- `{itemType}:{itemId}`. Ids from outside have no space, so no public event is ever an item's.
CREATE TABLE event_slot (
  requested_ms bigint NOT NULL,
  window_start_ms bigint NOT NULL,
  scheduled_ms bigint NOT NULL,
  created_us bigint NOT NULL,
  config_id integer NOT NULL,
  status smallint NOT NULL,
  event_id text COLLATE "C" NOT NULL PRIMARY KEY,
  -- When a slot is to be confirmed; null = nobody waits for it. Kept while ASSIGNED, and of one that
  -- EXPIRED.
  confirm_by_us bigint
);
-- For retention only. Its entries are equal in runs, which the b-tree stores once per run.
CREATE INDEX event_slot_window ON event_slot (window_start_ms);
-- Slots without a term are not in it.
CREATE INDEX event_slot_term ON event_slot (confirm_by_us)
  WHERE status = 0 AND confirm_by_us IS NOT NULL;
