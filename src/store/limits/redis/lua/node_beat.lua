-- Caller: Nodes::beat (nodes.cc). Notes that a node is alive, forgets silent ones, counts the rest.
-- KEYS: the sorted set of nodes by the micros of their last beat. ARGV: the node, for how many
-- micros a beat counts. Answer: how many nodes.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now - ARGV[2]))
redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[2] / 1000) + 60000)
return redis.call('ZCARD', KEYS[1])
