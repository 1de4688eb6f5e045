-- wrk script: POST /api/send. Environment: USERS, whose messages are sent in random turn.
local users = tonumber(os.getenv("USERS") or "1")
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("id", threads)
end

function init(args)
  math.randomseed(os.time() + id)
  sent = 0
end

function request()
  sent = sent + 1
  return wrk.format("POST", "/api/send", {["Content-Type"] = "application/json"},
    string.format('{"userId":%d,"message":"Your code is %06d. It is good for ten minutes."}',
      math.random(1, users), sent % 1000000))
end
