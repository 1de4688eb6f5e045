-- Caller: penstock migrate. Locks: creates a new table only.
-- How much time nodes have measured while they served this database, tied to its clock by marks: see
-- src/core/retention/progress.h. One row; both arrays ascend, and have the same length.
CREATE TABLE retention_progress (
  walls_us bigint[] NOT NULL,     -- what the clock said, in microseconds since the epoch
  progress_us bigint[] NOT NULL,  -- the progress by then
  one_row boolean NOT NULL DEFAULT true CHECK (one_row),
  CONSTRAINT retention_progress_pkey PRIMARY KEY (one_row)
) WITH (fillfactor = 50);
INSERT INTO retention_progress (walls_us, progress_us) VALUES ('{}', '{}');
