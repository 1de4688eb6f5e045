-- Caller: QuotaStore::remove. Index: gateway_quota_pkey. Locks: the row. Answers it when it was there.
DELETE FROM penstock.gateway_quota q WHERE q.user_id = $1::integer RETURNING q.user_id
