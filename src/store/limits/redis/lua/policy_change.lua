-- Caller: Policies::change (policies.cc). Appends one version to a policy, or refuses.
-- KEYS: the hash of newest versions, the sorted set of keys in force, the revision, the mark (a hash
-- of epoch and last_id), the list of this policy's versions (newest first); all of one slot.
-- ARGV: "create", "update" or "remove"; the policy's key; now in micros ('' = this server's clock);
-- the document of the draft (not for remove).
-- A version is doubles id, version, changed in micros, 1 if it is the end; then the document.
-- Answer: the version, or 'exists' or 'missing'.
local what, key, now, draft = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local before = redis.call('HGET', KEYS[1], key)
local id, version, changed, ended = nil, 0, 0, 1
if before then
  id, version, changed, ended = struct.unpack('<dddd', before)
end
if what == 'create' and ended == 0 then return {'exists'} end
if what ~= 'create' and ended == 1 then return {'missing'} end
local time = redis.call('TIME')
now = now == '' and time[1] * 1000000 + time[2] or tonumber(now)
local gone = what == 'remove' and 1 or 0
if gone == 1 then draft = string.sub(before, 33) end
if not id then
  -- Ends stay in the hash, so that its size numbers the policies and a key keeps its id. After a
  -- loss the hash may lack some; last_id remembers the ids that were written back.
  local last = tonumber(redis.call('HGET', KEYS[4], 'last_id') or 0)
  id = math.max(redis.call('HLEN', KEYS[1]), last) + 1
  redis.call('HSET', KEYS[4], 'last_id', id)
end
local made = struct.pack('<dddd', id, version + 1, now, gone) .. draft
redis.call('HSET', KEYS[1], key, made)
redis.call('LPUSH', KEYS[5], made)
if gone == 1 then
  redis.call('ZREM', KEYS[2], key)
else
  redis.call('ZADD', KEYS[2], 0, key)
end
redis.call('HSETNX', KEYS[4], 'epoch', time[1] .. '.' .. time[2])
redis.call('INCR', KEYS[3])
return {'done', made}
