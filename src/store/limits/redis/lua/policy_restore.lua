-- Caller: Policies::restore (policies.cc). Writes back versions that this store has lost: those
-- higher than what it has of their key. Twice is as good as once.
-- KEYS: the hash of newest versions, the sorted set of keys in force, the revision, the mark (a hash
-- of epoch and last_id), then for each version the list of its policy's versions; all of one slot.
-- ARGV: for each version the policy's key and the version as lua/policy_change.lua makes it.
-- Answer: how many were written.
local last = tonumber(redis.call('HGET', KEYS[4], 'last_id') or 0)
local written = 0
for i = 1, #ARGV, 2 do
  local key, bytes = ARGV[i], ARGV[i + 1]
  local id, version, changed, ended = struct.unpack('<dddd', bytes)
  local before = redis.call('HGET', KEYS[1], key)
  local stored = 0
  if before then
    local _
    _, stored = struct.unpack('<dd', before)
  end
  last = math.max(last, id)
  if version > stored then
    redis.call('HSET', KEYS[1], key, bytes)
    redis.call('LPUSH', KEYS[4 + (i + 1) / 2], bytes)
    if ended == 1 then
      redis.call('ZREM', KEYS[2], key)
    else
      redis.call('ZADD', KEYS[2], 0, key)
    end
    written = written + 1
  end
end
redis.call('HSET', KEYS[4], 'last_id', math.max(last, redis.call('HLEN', KEYS[1])))
-- A new epoch even if the old one is still there, in an older store: whoever knows that one looks.
if written > 0 then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[4], 'epoch', time[1] .. '.' .. time[2])
  redis.call('INCR', KEYS[3])
end
return written
