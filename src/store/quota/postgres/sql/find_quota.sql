-- Caller: QuotaStore::find. Index: gateway_quota_pkey, gateway_lease_pkey, gateway_cache_doubt_pkey. Locks:
-- none. What the cache has and is not known to have used counts for nobody yet.
SELECT q.rate_limit, q.window_min,
       CASE WHEN l.user_id IS NULL OR d.until_us >= l.checked_us THEN q.used
            ELSE greatest(q.used - greatest(l.ceiling - l.count, 0), 0) END,
       q.refreshed_us
  FROM penstock.gateway_quota q
  LEFT JOIN penstock.gateway_lease l ON l.user_id = q.user_id AND l.refreshed_us = q.refreshed_us
  LEFT JOIN penstock.gateway_cache_doubt d ON d.epoch = l.epoch
 WHERE q.user_id = $1::integer
