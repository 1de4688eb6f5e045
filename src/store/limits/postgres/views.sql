-- Caller: people. Index: none of their own. Locks: none. The tables with names and timestamps.
CREATE VIEW throttle_key AS
  SELECT encode(key, 'escape') AS key, to_timestamp(idle_at_us / 1e6) AS idle_at, octet_length(record) AS record_bytes
    FROM throttle_usage WHERE octet_length(record) > 0;
