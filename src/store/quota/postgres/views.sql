-- Caller: people. Index: none of their own. Locks: none. The tables with names and timestamps.
CREATE VIEW gateway_quota_readable AS
  SELECT q.user_id, q.rate_limit, q.window_min, q.used, to_timestamp(q.refreshed_us / 1e6) AS refreshed
    FROM gateway_quota q;
