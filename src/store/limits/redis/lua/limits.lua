-- Caller: ScriptCall (script_call.cc). Decides a group of requests in order, each all or none, by
-- the rules of core/limits; the differential suites hold the two together.
--
-- KEYS: the distinct keys of the group, all of one slot: first those of buckets and counters, then
-- those of exact logs. Each key is read once and written at most once.
-- ARGV[1]: doubles: now in micros (-1 = this server's clock), milliseconds that keys outlive their
-- usage, number of bucket and counter keys, limits, requests; for each limit type, capacity, window
-- in micros, rate tokens, rate micros; for each request cost, 1 if it is only tried, checks; for
-- each check its key and its limit, negative if it is a shadow. Indexes count from 1.
-- Answer: doubles: now, then for each request 1 (admitted), 0 (denied) or 2 (handed back: it needs
-- what only the core can do, or comes after such a request on one of its keys); unless it is handed
-- back, for each check admitted, remaining, retry after, reset after.
-- Values: see value.h. Numbers are doubles: whatever is compared stays below 2^53, where they are
-- exact; products that may not are formed by ceil_share and floor_share.

local floor, ceil, pack, unpack_bytes = math.floor, math.ceil, struct.pack, struct.unpack
local BUCKETS_END, LOG, SLIDING = 1, 2, 3
local EXACT = 4503599627370496            -- 2^52
local INSTANT_MAX = 8900000000000000      -- instants and windows after it stay below 2^53
local LOG_ENTRIES_MAX, HEADER, CHUNK = 4096, 49, 32
local SECOND = 1000000

local input = {unpack_bytes('<' .. string.rep('d', #ARGV[1] / 8), ARGV[1])}
local now, grace, small = input[1], input[2], input[3]
if now < 0 then
  local time = redis.call('TIME')
  now = time[1] * SECOND + time[2]
end

-- What is known of each key, by its index. kind: -1 = nothing, -2 = not one of these layouts.
local kind, capacity, window, last, units = {}, {}, {}, {}, {}
local tokens, micros, previous, current = {}, {}, {}, {}
local dirty, held, logs = {}, {}, {}

local function forget(k)
  kind[k], capacity[k], window[k], last[k], units[k] = -1, 0, 0, 0, 0
  tokens[k], micros[k], previous[k], current[k] = 0, 1, 0, 0
end

if small > 0 then
  local values = redis.call('MGET', unpack(KEYS, 1, small))
  for k = 1, small do
    local value = values[k]
    forget(k)
    if value then
      if #value == 65 then
        local seconds
        kind[k], capacity[k], seconds, last[k], units[k], tokens[k], micros[k], previous[k],
          current[k] = unpack_bytes('<Bdddddddd', value)
        window[k] = seconds * SECOND
        if last[k] > INSTANT_MAX or kind[k] == LOG then kind[k] = -2 end
      else
        kind[k] = -2
      end
    end
  end
end

-- a * b as a sum of two doubles, exactly (Dekker).
local function product(a, b)
  local p = a * b
  local t = 134217729 * a
  local a1 = t - (t - a)
  local a2 = a - a1
  t = 134217729 * b
  local b1 = t - (t - b)
  local b2 = b - b1
  return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2
end

-- floor(a * b / c), and what is left; the quotient is below 2^46, so the first guess is off by at
-- most one.
local function divide(a, b, c)
  local q = floor(a * b / c)
  local p, e = product(a, b)
  local p2, e2 = product(q, c)
  local rest = (p - p2) + (e - e2)
  if rest < 0 then return q - 1, rest + c end
  if rest >= c then return q + 1, rest - c end
  return q, rest
end

local function floor_share(a, b, c)
  if a * b < EXACT then return floor(a * b / c) end
  return (divide(a, b, c))
end

local function ceil_share(a, b, c)
  if a * b < EXACT then return ceil(a * b / c) end
  local q, rest = divide(a, b, c)
  return rest > 0 and q + 1 or q
end

-- The usage after the last look, for the charge that may follow.
local next_at, next_units, next_previous, next_current

local function look_bucket(k, limit, cost)
  local full, rate = limit.capacity * limit.micros, limit.tokens
  local before, at = last[k], now
  if before > at then at = before end
  local used = units[k] - (at - before) * rate
  if used < 0 then used = 0 end
  local admitted, retry = 1, 0
  if cost > 0 then
    if cost > limit.capacity then
      admitted, retry = 0, -1
    else
      local charged = used + cost * limit.micros
      if charged <= full then
        used = charged
      else
        admitted, retry = 0, ceil((charged - full) / rate) + at - now
      end
    end
  elseif cost < 0 then
    used = used + cost * limit.micros
    if used < 0 then used = 0 end
  end
  next_at, next_units = at, used
  local reset = 0
  if used > 0 then reset = ceil(used / rate) + at - now end
  local remaining = 0
  if used < full then remaining = floor((full - used) / limit.micros) end
  return admitted, remaining, retry, reset
end

local COUNT_MAX = 4294967295

local function charge_bucket(k, limit, cost)
  local at, before, after = next_at, previous[k], current[k]
  if floor(at / SECOND) ~= floor(last[k] / SECOND) then
    local start = at - at % limit.window
    if last[k] < start then
      before = last[k] >= start - limit.window and after or 0
      after = 0
    end
  end
  after = after + cost
  if after < 0 then
    before = before + after
    if before < 0 then before = 0 end
    after = 0
  end
  if after > COUNT_MAX then after = COUNT_MAX end
  previous[k], current[k], units[k], last[k] = before, after, next_units, at
end

-- How far into the window `count` of the window before weighs no more than `room`.
local function elapsed_until(count, room, length)
  if count <= room then return 0 end
  return length - floor_share(room, length, count)
end

local function look_counter(k, limit, cost)
  local length, at = limit.window, now
  if last[k] > at then at = last[k] end
  local start = at - at % length
  local before, after = previous[k], current[k]
  if last[k] < start then
    before = limit.type == SLIDING and last[k] >= start - length and after or 0
    after = 0
  end
  local share = 0
  if before > 0 then share = ceil_share(before, start + length - at, length) end
  local admitted, retry = 1, 0
  if cost > 0 then
    if cost > limit.capacity then
      admitted, retry = 0, -1
    elseif cost <= limit.capacity - after - share then
      after = after + cost
    else
      admitted = 0
      local room = limit.capacity - cost - after
      if room >= 0 then
        retry = start + elapsed_until(before, room, length) - now
      elseif limit.type == SLIDING then
        retry = start + length + elapsed_until(after, limit.capacity - cost, length) - now
      else
        retry = start + length - now
      end
    end
  elseif cost < 0 then
    after = after + cost
    if after < 0 then
      before = before + after
      if before < 0 then before = 0 end
      after, share = 0, 0
      if before > 0 then share = ceil_share(before, start + length - at, length) end
    end
  end
  next_at, next_previous, next_current = at, before, after
  local remaining, reset = limit.capacity - after - share, 0
  if remaining < 0 then remaining = 0 end
  if before > 0 or after > 0 then
    reset = start + length - now
    if limit.type == SLIDING and after > 0 then reset = reset + length end
  end
  return admitted, remaining, retry, reset
end

local function charge_counter(k)
  previous[k], current[k], last[k] = next_previous, next_current, next_at
end

-- An exact log: `first` and `count` as stored, live_* without what has expired by now, at[] and
-- cost[] the entries read or changed so far, tail = the first entry that has to be written.
local function open_log(k)
  local log = {at = {}, cost = {}, first = 0, count = 0, sum = 0}
  forget(k)
  local bytes = redis.call('GETRANGE', KEYS[k], 0, HEADER + 16 * CHUNK - 1)
  if #bytes >= HEADER and string.byte(bytes) == LOG then
    local seconds
    kind[k], capacity[k], seconds, last[k], log.sum, log.first, log.count =
      unpack_bytes('<Bdddddd', bytes)
    window[k] = seconds * SECOND
    if last[k] > INSTANT_MAX then kind[k] = -2 end
    for i = 0, floor((#bytes - HEADER) / 16) - 1 do
      log.at[i], log.cost[i] = unpack_bytes('<dd', bytes, HEADER + 16 * i + 1)
    end
  elseif #bytes > 0 then
    kind[k] = -2
  end
  log.live_first, log.live_count, log.live_sum = log.first, log.count, log.sum
  logs[k] = log
end

local function entry(k, log, i)
  if not log.at[i] then
    local from = i - i % CHUNK
    local bytes = redis.call('GETRANGE', KEYS[k], HEADER + 16 * from,
                             HEADER + 16 * (from + CHUNK) - 1)
    for j = 0, floor(#bytes / 16) - 1 do
      if not log.at[from + j] then
        log.at[from + j], log.cost[from + j] = unpack_bytes('<dd', bytes, 16 * j + 1)
      end
    end
  end
  return log.at[i], log.cost[i]
end

-- Nil when the log is full: joining entries is the core's.
local function look_log(k, limit, cost)
  local log, length, at = logs[k], limit.window, now
  if last[k] > at then at = last[k] end
  while log.live_count > 0 do
    local made, amount = entry(k, log, log.live_first)
    if made + length > at then break end
    log.live_first, log.live_count = log.live_first + 1, log.live_count - 1
    log.live_sum = log.live_sum - amount
  end
  local used, admitted, retry, empty = log.live_sum, 1, 0, 0
  local newest = log.live_first + log.live_count - 1
  if cost > 0 and cost <= limit.capacity and used + cost <= limit.capacity then
    if log.live_count >= LOG_ENTRIES_MAX and entry(k, log, newest) ~= at then return nil end
    used, empty = used + cost, at + length
  else
    local amount = cost < 0 and -cost or 0
    while newest >= log.live_first do
      local made, size = entry(k, log, newest)
      if size > amount then
        empty = made + length
        break
      end
      amount, newest = amount - size, newest - 1
    end
    if cost > limit.capacity then
      admitted, retry = 0, -1
    elseif cost > 0 then
      admitted = 0
      local excess, i = used + cost - limit.capacity, log.live_first
      while true do
        local made, size = entry(k, log, i)
        excess, i = excess - size, i + 1
        if excess <= 0 then
          retry = made + length - now
          break
        end
      end
    elseif cost < 0 then
      used = used + cost
      if used < 0 then used = 0 end
    end
  end
  next_at = at
  local remaining = limit.capacity - used
  if remaining < 0 then remaining = 0 end
  return admitted, remaining, retry, used > 0 and empty - now or 0
end

local function charge_log(k, cost)
  local log, at = logs[k], next_at
  local first, count, sum = log.live_first, log.live_count, log.live_sum
  local tail = log.tail or first + count
  if cost > 0 then
    sum = sum + cost
    local newest = first + count - 1
    if count > 0 and entry(k, log, newest) == at then
      log.cost[newest] = log.cost[newest] + cost
    else
      newest, count = newest + 1, count + 1
      log.at[newest], log.cost[newest] = at, cost
    end
    if newest < tail then tail = newest end
  else
    local amount = -cost
    while amount > 0 and count > 0 do
      local newest = first + count - 1
      local _, size = entry(k, log, newest)
      local taken = size < amount and size or amount
      sum, amount = sum - taken, amount - taken
      log.cost[newest] = size - taken
      if size == taken then count = count - 1 end
      if newest < tail then tail = newest end
    end
  end
  log.first, log.count, log.sum, log.tail = first, count, sum, tail
  log.live_first, log.live_count, log.live_sum = first, count, sum
  last[k] = at
end

local function header(k, log)
  return pack('<Bdddddd', LOG, capacity[k], window[k] / SECOND, last[k], log.sum, log.first,
              log.count)
end

local function entries(k, log, from)
  local parts = {}
  for i = from, log.first + log.count - 1 do
    parts[#parts + 1] = pack('<dd', entry(k, log, i))
  end
  return table.concat(parts)
end

local function expiry(idle_at) return ceil((idle_at - now) / 1000) + grace end

local function save_log(k)
  local log, key, idle_at = logs[k], KEYS[k], last[k]
  if log.count > 0 then
    local newest = entry(k, log, log.first + log.count - 1) + window[k]
    if newest > idle_at then idle_at = newest end
  end
  local tail = log.tail or log.first + log.count
  if log.count <= CHUNK or log.first >= log.count then
    -- Short, or half of it expired: anew.
    local kept = ''
    if log.count <= CHUNK then
      tail = log.first
    elseif tail > log.first then
      kept = redis.call('GETRANGE', key, HEADER + 16 * log.first, HEADER + 16 * tail - 1)
    end
    local rest = entries(k, log, tail)
    log.first = 0
    redis.call('SET', key, header(k, log) .. kept .. rest, 'PX', expiry(idle_at))
  else
    if tail < log.first + log.count then
      redis.call('SETRANGE', key, HEADER + 16 * tail, entries(k, log, tail))
    end
    redis.call('SETRANGE', key, 0, header(k, log))
    redis.call('PEXPIRE', key, expiry(idle_at))
  end
end

local function save(k)
  if kind[k] == LOG then return save_log(k) end
  local length, idle_at = window[k], last[k]
  local after = last[k] - last[k] % length + length
  if kind[k] <= BUCKETS_END then
    idle_at = idle_at + ceil(units[k] / tokens[k])
    if previous[k] > 0 and after > idle_at then idle_at = after end
    if current[k] > 0 and after + length > idle_at then idle_at = after + length end
  elseif current[k] > 0 then
    idle_at = kind[k] == SLIDING and after + length or after
  elseif previous[k] > 0 then
    idle_at = after
  end
  redis.call('SET', KEYS[k],
             pack('<Bdddddddd', kind[k], capacity[k], length / SECOND, last[k], units[k], tokens[k],
                  micros[k], previous[k], current[k]),
             'PX', expiry(idle_at))
end

local function look(k, limit, cost)
  if limit.type <= BUCKETS_END then return look_bucket(k, limit, cost) end
  if limit.type == LOG then return look_log(k, limit, cost) end
  return look_counter(k, limit, cost)
end

-- After a look at the same that admitted.
local function charge(k, limit, cost)
  if limit.type <= BUCKETS_END then
    charge_bucket(k, limit, cost)
  elseif limit.type == LOG then
    charge_log(k, cost)
  else
    charge_counter(k)
  end
  kind[k], capacity[k], window[k] = limit.type, limit.capacity, limit.window
  tokens[k], micros[k] = limit.tokens, limit.micros
  dirty[k] = true
end

-- Whether this script can judge the key by the limit.
local function usual(k, limit)
  if held[k] or (limit.type == LOG) ~= (k > small) then return false end
  if limit.type == LOG and not logs[k] then open_log(k) end
  local t = kind[k]
  return t == -1 or (t == limit.type and window[k] == limit.window and
                     (t > BUCKETS_END or (tokens[k] == limit.tokens and micros[k] == limit.micros)))
end

local place = 6
local limits = {}
for l = 1, input[4] do
  limits[l] = {type = input[place], capacity = input[place + 1], window = input[place + 2],
               tokens = input[place + 3], micros = input[place + 4]}
  place = place + 5
end

local output, written = {now}, 1
for _ = 1, input[5] do
  local cost, tried, checks = input[place], input[place + 1] == 1, input[place + 2]
  local from, to = place + 3, place + 2 + 2 * checks
  place = to + 1
  local ours, admitted, base = now <= INSTANT_MAX, 1, written + 1
  output[base] = 0
  for c = from, to, 2 do
    local k, l = input[c], input[c + 1]
    local limit = limits[l < 0 and -l or l]
    ours = ours and usual(k, limit)
    if ours then
      local yes, remaining, retry, reset = look(k, limit, cost)
      if not yes then
        ours = false
      else
        output[written + 2], output[written + 3] = yes, remaining
        output[written + 4], output[written + 5] = retry, reset
        written = written + 4
        if yes == 0 and l > 0 then admitted = 0 end
      end
    end
  end
  if not ours then
    for c = from, to, 2 do held[input[c]] = true end
    for i = base + 1, written + 1 do output[i] = nil end
    output[base], written = 2, base
  else
    output[base], written = admitted, written + 1
    local write = cost ~= 0 and not tried
    local at = base + 1
    for c = from, to, 2 do
      local k, l = input[c], input[c + 1]
      local limit = limits[l < 0 and -l or l]
      if output[at] == 1 then
        if admitted == 1 and write then
          if checks > 1 then look(k, limit, cost) end
          charge(k, limit, cost)
        elseif cost ~= 0 then
          output[at], output[at + 1], output[at + 2], output[at + 3] = look(k, limit, 0)
        end
      end
      if write and kind[k] >= 0 and capacity[k] ~= limit.capacity then
        capacity[k], dirty[k] = limit.capacity, true
      end
      at = at + 4
    end
  end
end

for k = 1, #KEYS do
  if dirty[k] then save(k) end
end
return pack('<' .. string.rep('d', written), unpack(output, 1, written))
