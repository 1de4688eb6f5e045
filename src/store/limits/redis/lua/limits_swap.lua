-- Caller: Decider::by_core (decider_here.cc). Writes what the core decided, unless one of the keys
-- has changed since it was read: then nothing is written.
-- KEYS: of one slot. ARGV: for each key the value it must still have ('' = none), the new one ('' =
-- leave it), and in how many milliseconds it expires. Answer: 1 = written, 0 = one has changed.
local values = redis.call('MGET', unpack(KEYS))
for k = 1, #KEYS do
  if (values[k] or '') ~= ARGV[3 * k - 2] then return 0 end
end
for k = 1, #KEYS do
  if ARGV[3 * k - 1] ~= '' then
    redis.call('SET', KEYS[k], ARGV[3 * k - 1], 'PX', ARGV[3 * k])
  end
end
return 1
