-- Caller: Policies::list (policies.cc). A page of the policies in force, in the order of keys.
-- KEYS: the hash of newest versions, the sorted set of keys in force. ARGV: the key before the page
-- ('' = from the start), how many. Answer: key, version, key, version, …
local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
local keys = redis.call('ZRANGEBYLEX', KEYS[2], from, '+', 'LIMIT', 0, ARGV[2])
local page = {}
for i = 1, #keys do
  page[2 * i - 1] = keys[i]
  page[2 * i] = redis.call('HGET', KEYS[1], keys[i])
end
return page
