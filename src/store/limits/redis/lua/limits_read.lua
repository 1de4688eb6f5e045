-- Caller: Decider::by_core (decider_here.cc). Reads the keys of requests that the core decides.
-- KEYS: of one slot. Answer: this server's clock in micros, then the value of each key.
local time = redis.call('TIME')
local values = redis.call('MGET', unpack(KEYS))
table.insert(values, 1, string.format('%.0f', time[1] * 1000000 + time[2]))
return values
