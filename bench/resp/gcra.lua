-- A correct GCRA for the comparison: the reply of redis-cell, by the server's clock, in microseconds.
-- KEYS[1]; ARGV: max_burst, count, period in seconds, quantity.
local limit = tonumber(ARGV[1]) + 1
local interval = tonumber(ARGV[3]) * 1000000 / tonumber(ARGV[2])
local increment = interval * tonumber(ARGV[4])
local tolerance = interval * limit
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local tat = tonumber(redis.call('GET', KEYS[1]) or now)
local new_tat = math.max(now, tat) + increment
local wait = new_tat - tolerance - now
local ttl, limited, retry = new_tat - now, 0, -1
if wait > 0 then
  limited = 1
  ttl = math.max(tat - now, 0)
  if increment <= tolerance then retry = math.ceil(wait / 1000000) end
elseif increment ~= 0 then
  -- 17 digits: the default format of a number would cut the time to a tenth of a second.
  redis.call('SET', KEYS[1], string.format('%.0f', new_tat), 'PX', math.ceil(ttl / 1000))
end
return {limited, limit, math.floor((tolerance - ttl) / interval), retry, math.ceil(ttl / 1000000)}
