-- Caller: penstock migrate. Locks: creates new tables and columns; gateway_usage while one index of it is
-- built, so that messages wait. All times are microseconds since the epoch.

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

-- Item types whose items go to a provider of text messages by SMPP.
ALTER TABLE dispatch_settings
  ADD COLUMN smpp_host text NOT NULL DEFAULT '',
  ADD COLUMN smpp_port bigint NOT NULL DEFAULT 2775,
  ADD COLUMN smpp_system_id text NOT NULL DEFAULT '',
  ADD COLUMN smpp_password text NOT NULL DEFAULT '',
  ADD COLUMN smpp_system_type text NOT NULL DEFAULT '',
  ADD COLUMN smpp_source text NOT NULL DEFAULT '',
  ADD COLUMN smpp_source_ton bigint,
  ADD COLUMN smpp_source_npi bigint,
  ADD COLUMN smpp_receipts boolean NOT NULL DEFAULT true;
