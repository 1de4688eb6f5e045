-- Caller: QuotaCache (quota_cache.cc). One user's entry of the gateway's cache. The text is loaded with
-- the token of its epoch in front, once, by who opens the epoch: Redis keeps scripts only in memory,
-- so one that comes back with old data, or a replica that took over, does not know this script, and
-- no call can be decided by what it has.
-- KEYS: the entry, what was forgotten of it (in the same slot). ARGV: what to do, the epoch, then
--   charge: now in micros ('' = by its expiry), costs.
--     Answer: 0 = a lease is needed first, 1 = and none is to be put here now;
--     or 2, the window, its end in micros, milliseconds to its expiry, the count, the version if
--     something was taken (else 0), and of each cost that could be decided what became of it as
--     ChargeResult numbers it. Costs after the last one need a lease.
--   fill: window, its end, limit, from, to, whether that is all, stamp, milliseconds to its expiry.
--     Answer: 1 = taken, 0 = there is something newer.
--   return: window, cost. Answer: 0 = no such entry, or 1, the count, the version.
local op, epoch = ARGV[1], ARGV[2]
local entry = redis.call('HMGET', KEYS[1], 'epoch', 'window', 'rateLimit', 'currentCount', 'ceiling',
                         'full', 'ends')
local current = entry[1] == epoch
local window = entry[2]
local limit, count, ceiling = tonumber(entry[3]), tonumber(entry[4]), tonumber(entry[5])

if op == 'charge' then
  local now = tonumber(ARGV[3])
  if not current or (now and now >= tonumber(entry[7])) then
    return redis.call('GET', KEYS[2]) == 'all' and {1} or {0}
  end
  local full = entry[6] == '1'
  local taken = 0
  local answer = {2, window, entry[7], 0, 0, 0}
  for i = 4, #ARGV do
    local cost = tonumber(ARGV[i])
    if cost > limit then
      answer[#answer + 1] = 2
    elseif count + taken + cost <= ceiling then
      taken = taken + cost
      answer[#answer + 1] = 0
    elseif full then
      answer[#answer + 1] = 1
    else
      break
    end
  end
  if not now then answer[4] = redis.call('PTTL', KEYS[1]) end
  if taken > 0 then
    answer[5] = redis.call('HINCRBY', KEYS[1], 'currentCount', taken)
    answer[6] = redis.call('HINCRBY', KEYS[1], 'version', 1)
  end
  return answer
end

if op == 'fill' then
  local new_window = ARGV[3]
  local forgotten = redis.call('GET', KEYS[2])
  if forgotten == 'all' or (forgotten and tonumber(new_window) < tonumber(forgotten)) then return 0 end
  local from, to = tonumber(ARGV[6]), tonumber(ARGV[7])
  if entry[1] then
    if tonumber(entry[1]) > tonumber(epoch) then return 0 end
    if current and tonumber(window) > tonumber(new_window) then return 0 end
    if current and window == new_window then
      -- Leases may come in any order: what is free is the sum of them.
      local free = ceiling - count + to - from
      ceiling = math.max(ceiling, to)
      redis.call('HSET', KEYS[1], 'ceiling', ceiling, 'currentCount', ceiling - free)
      if ARGV[8] == '1' then redis.call('HSET', KEYS[1], 'full', '1') end
      redis.call('HINCRBY', KEYS[1], 'version', 1)
      return 1
    end
    redis.call('DEL', KEYS[1])
  end
  redis.call('HSET', KEYS[1], 'rateLimit', ARGV[5], 'currentCount', ARGV[6], 'ceiling', ARGV[7],
             'full', ARGV[8], 'epoch', epoch, 'window', new_window, 'ends', ARGV[4],
             'version', ARGV[9])
  redis.call('PEXPIRE', KEYS[1], ARGV[10])
  return 1
end

if not current or window ~= ARGV[3] then return {0} end
count = math.max(count - tonumber(ARGV[4]), 0)
redis.call('HSET', KEYS[1], 'currentCount', count)
return {1, count, redis.call('HINCRBY', KEYS[1], 'version', 1)}
