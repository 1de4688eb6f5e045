-- Caller: Policies::mark (policies.cc). KEYS: the mark, the revision; of one slot.
-- Answer: the epoch and the revision; an emptied store has neither.
return {redis.call('HGET', KEYS[1], 'epoch') or '', redis.call('GET', KEYS[2]) or '0'}
