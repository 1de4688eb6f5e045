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

-- Caller: functions and statements of this schema. Index: payment_change_pkey. Locks: none.
CREATE FUNCTION payment_status(number bigint, first_status smallint) RETURNS integer
LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT c.status FROM penstock.payment_change c
                    WHERE c.payment_no = number ORDER BY c.entry DESC LIMIT 1),
                  first_status)::integer
$$;

-- Caller: functions and statements of this schema. Index: dispatch_type_name. Locks: none. The number of
-- the items' type; null when there was none yet.
CREATE FUNCTION payment_type() RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT t.type_id FROM penstock.dispatch_type t WHERE t.name = 'PAYMENT'
$$;

-- For people.
CREATE VIEW payment_readable AS
  SELECT p.payment_id, to_timestamp(p.created_us / 1e6) AS created,
         to_timestamp(p.scheduled_us / 1e6) AS scheduled,
         (ARRAY['SCHEDULED', 'ACCEPTED', 'PROCESSING', 'REJECTED', 'HELD', 'FAILED'])
           [1 + CASE WHEN s.status = 0 AND s.item IN (3, 4) THEN 5 ELSE s.status END] AS status,
         (ARRAY['READY', 'CLAIMED', 'DISPATCHED', 'DEAD', 'CANCELLED'])[1 + s.item] AS queue_status,
         convert_from(p.reason, 'UTF8') AS reason, convert_from(p.body, 'UTF8') AS body
    FROM payment p
   CROSS JOIN LATERAL (
     SELECT payment_status(p.payment_no, p.first_status) AS status,
            (SELECT item_state(i.type_id, i.due_us, i.item_id, i.item_no) FROM dispatch_item i
              WHERE i.type_id = payment_type() AND i.item_id = p.payment_id) AS item) s;
