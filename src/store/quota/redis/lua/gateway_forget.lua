-- Caller: QuotaCache::forget (quota_cache.cc). The entry of a user whose config changes goes, and no lease of
-- an older window is put in its place, however late it comes.
-- KEYS: the entry, what was forgotten of it (in the same slot). ARGV: the window from which on entries
-- are good, or 'all' for none; for how many milliseconds.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 1
