-- wrk script: POST /api/v1/slots, or …/batch when BATCH is above 1, every event new.
-- Environment: BATCH (events a call), RUN (a prefix, so that runs do not meet each other's events).
local batch = tonumber(os.getenv("BATCH") or "1")
local run = os.getenv("RUN") or "r"
local at = "2030-06-01T12:00:00Z"
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("id", threads)
end

function init(args)
  math.randomseed(os.time() + id)
  sent = 0
  path = batch > 1 and "/api/v1/slots/batch" or "/api/v1/slots"
end

-- Random hexadecimal first, as a UUID would be: ids in order would flatter the store.
local function event()
  sent = sent + 1
  return string.format('{"eventId":"%08x-%s-%d-%d","requestedTime":"%s"}',
    math.random(0, 2147483647), run, id, sent, at)
end

function request()
  if batch == 1 then
    return wrk.format("POST", path, {["Content-Type"] = "application/json"}, event())
  end
  local events = {}
  for i = 1, batch do events[i] = event() end
  return wrk.format("POST", path, {["Content-Type"] = "application/json"},
    "[" .. table.concat(events, ",") .. "]")
end

function done(summary, latency, requests)
  io.write(string.format("requests %d seconds %.6f errors %d p50_us %d p99_us %d\n", summary.requests,
    summary.duration / 1e6, summary.errors.status + summary.errors.connect + summary.errors.read +
    summary.errors.write + summary.errors.timeout, latency:percentile(50), latency:percentile(99)))
end
