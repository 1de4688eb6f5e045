-- Caller: Policies::change (policies.cc). Appends one version to a policy, or refuses.
-- KEYS: the hash of newest versions, the sorted set of keys in force, the revision, the list of
-- this policy's versions (newest first); all of one slot.
-- ARGV: "create", "update" or "remove"; the policy's key; now in micros ('' = this server's clock);
-- the draft (not for remove).
-- A version is doubles id, version, changed in micros, 1 if it is the end; then the draft.
-- Answer: the version, or 'exists' or 'missing'.
local what, key, now, draft = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local before = redis.call('HGET', KEYS[1], key)
local id, version, changed, ended = nil, 0, 0, 1
if before then
  id, version, changed, ended = struct.unpack('<dddd', before)
end
if what == 'create' and ended == 0 then return {'exists'} end
if what ~= 'create' and ended == 1 then return {'missing'} end
if now == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(now)
end
local gone = what == 'remove' and 1 or 0
if gone == 1 then draft = string.sub(before, 33) end
-- Ends stay in the hash, so that its size numbers the policies and a key keeps its id.
id = id or redis.call('HLEN', KEYS[1]) + 1
local made = struct.pack('<dddd', id, version + 1, now, gone) .. draft
redis.call('HSET', KEYS[1], key, made)
redis.call('LPUSH', KEYS[4], made)
if gone == 1 then
  redis.call('ZREM', KEYS[2], key)
else
  redis.call('ZADD', KEYS[2], 0, key)
end
redis.call('INCR', KEYS[3])
return {'done', made}
