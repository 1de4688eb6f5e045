-- Caller: penstock migrate. Locks: creates new tables only.
-- docs/decisions/0070-payments.md says why it is cut this way. All times are microseconds since the
-- epoch. Statuses: 0 SCHEDULED, 1 ACCEPTED, 2 PROCESSING, 3 REJECTED, 4 HELD, 5 FAILED.

-- What was asked for, one row for each payment until it is forgotten. Written once, never changed.
-- Body, digest and reason are bytes: no encoding of the database can refuse or alter them.
CREATE TABLE payment (
  payment_no bigint NOT NULL,    -- its number, ascending as payments come in: see payment_change
  created_us bigint NOT NULL,
  scheduled_us bigint NOT NULL,  -- as it was asked for; its item says when it runs
  first_status smallint NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  body bytea NOT NULL,
  reason bytea,                  -- why it was rejected or held
  CONSTRAINT payment_pkey PRIMARY KEY (payment_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE SEQUENCE payment_no AS bigint;  -- one for each batch of payments

-- For the walk over old payments.
CREATE INDEX payment_scheduled ON payment (scheduled_us, payment_id);
-- Those that a rule stopped: people look for them among millions of others.
CREATE INDEX payment_stopped ON payment (first_status, payment_id) WHERE first_status <> 0;

-- What became of payments since: one row for each change of status. Rows are inserted and, with their
-- payment, deleted. The last row of a payment is its status, else first_status. A payment that the queue
-- gave up has no row here: dispatch_audit tells it.
CREATE TABLE payment_change (
  payment_no bigint NOT NULL,
  at_us bigint NOT NULL,
  entry integer NOT NULL,  -- from 1 for each payment
  status smallint NOT NULL,
  detail bytea,
  CONSTRAINT payment_change_pkey PRIMARY KEY (payment_no, entry)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- All versions of the rules; the highest revision counts.
CREATE TABLE payment_rules (
  revision bigint NOT NULL,
  changed_us bigint NOT NULL,
  rules bytea NOT NULL,  -- JSON, as the API has it
  CONSTRAINT payment_rules_pkey PRIMARY KEY (revision)
);
