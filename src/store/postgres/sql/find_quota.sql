-- Caller: QuotaStore::find. Index: gateway_quota_pkey. Locks: none.
SELECT q.rate_limit, q.window_min, q.used, q.refreshed_us
  FROM penstock.gateway_quota q WHERE q.user_id = $1::integer
