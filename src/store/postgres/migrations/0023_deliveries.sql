-- Caller: penstock migrate. Locks: creates new tables; builds one index of gateway_usage, which no
-- message is written meanwhile. All times are microseconds since the epoch.

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

-- Pages of all users go by minute and user; what asked for minutes alone finds them here as well.
CREATE INDEX gateway_usage_order ON gateway_usage (minute_us, user_id);
DROP INDEX gateway_usage_minute;
