-- Caller: penstock migrate. Locks: dispatch_settings, for a moment.
-- The settings of a sink that is compiled in from outside: a JSON object as it was given, '' = none. Its name
-- stands in sink_type, beside those of our own sinks.
ALTER TABLE dispatch_settings ADD COLUMN sink_options text NOT NULL DEFAULT '';
