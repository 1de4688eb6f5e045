-- Caller: the benchmark's baseline. The tables of the design that Penstock replaces, under our
-- names, with the columns and all the indexes that it documents; times are bigint as ours, which is
-- as wide as its timestamps.
--   baseline_window    RL_WNDW_CT: the lock target; its second index serves the search
--   baseline_frontier  RL_WNDW_FRONTIER_TRK: how far windows are provisioned, insert-only
--   baseline_slot      RL_EVENT_SLOT_DTL: an id of its own as the primary key, the event unique,
--                      two more indexes for people
CREATE TABLE baseline_window (
  window_start_ms bigint PRIMARY KEY,
  used integer NOT NULL,
  created_us bigint NOT NULL
);
CREATE INDEX baseline_window_used ON baseline_window (window_start_ms, used);
CREATE TABLE baseline_frontier (
  requested_ms bigint NOT NULL,
  window_end_ms bigint NOT NULL,
  created_us bigint NOT NULL,
  PRIMARY KEY (requested_ms, window_end_ms)
);
CREATE TABLE baseline_slot (
  slot_id varchar(50) COLLATE "C" PRIMARY KEY,
  event_id varchar(50) COLLATE "C" NOT NULL UNIQUE,
  requested_ms bigint NOT NULL,
  window_start_ms bigint NOT NULL,
  scheduled_ms bigint NOT NULL,
  config_id varchar(50) COLLATE "C" NOT NULL,
  created_us bigint NOT NULL
);
CREATE INDEX baseline_slot_window ON baseline_slot (window_start_ms);
CREATE INDEX baseline_slot_created ON baseline_slot (created_us);
