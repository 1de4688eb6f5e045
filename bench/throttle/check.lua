-- wrk script: POST /api/v1/throttle/check for random ones of KEYS keys (environment, default 10,000), or for one.
-- The requests are made beforehand: what wrk does per request is the same for Penstock and for its peer.
local keys = tonumber(os.getenv("KEYS") or "10000")
local requests = {}
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("id", threads)
end

function init(args)
  math.randomseed(os.time() + id)
  for i = 1, keys do
    requests[i] = wrk.format("POST", "/api/v1/throttle/check", {["Content-Type"] = "application/json"},
      string.format('{"key":"user:%08d"}', i))
  end
end

function request()
  return requests[math.random(keys)]
end
