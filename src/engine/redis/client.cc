#include "engine/redis/client.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/check.h"
#include "runtime/clocks.h"
#include "wire/resp_writer.h"

namespace penstock::store::redis {
namespace {

constexpr int kRoundsMax = 32;   // of one call, redirections and waits included
constexpr Millis kWaitFirst{2};  // before a node is asked again that could not
constexpr Millis kWaitLongest{50};
constexpr double kMapSecondsMax = 30;        // a map is fetched again after this
constexpr double kRefreshSecondsMin = 0.02;  // and never more often than this

}  // namespace

// A command on its way.
struct Client::Sending {
  std::size_t command = 0;
  std::optional<Endpoint> ask = std::nullopt;  // there, after ASKING
  bool load = false;                           // the script first
};

// What goes to one node in one round.
struct Client::Flight {
  Endpoint node;
  std::vector<Sending> sendings;
  std::string requests = {};
  std::vector<std::size_t> extra_replies = {};  // for each sending, to be read before its own
  std::optional<Pool::Lease> lease = std::nullopt;
  std::optional<ClientError> error = std::nullopt;
};

// What a round taught.
struct Client::Outcome {
  bool refresh = false;
  bool wait = false;
};

Command call_of(const Script& script, std::span<const std::string_view> keys,
                std::span<const std::string_view> arguments) {
  PENSTOCK_CHECK(!keys.empty());
  Command command{.slot = slot_of(keys.front()), .script = &script};
  wire::RespWriter writer(command.request, wire::RespVersion::v2);
  writer.array(3 + keys.size() + arguments.size());
  writer.bulk("EVALSHA").bulk(script.digest).bulk(std::to_string(keys.size()));
  for (const std::string_view key : keys) writer.bulk(key);
  for (const std::string_view argument : arguments) writer.bulk(argument);
  return command;
}

Command command_of(std::string_view key, std::initializer_list<std::string_view> words) {
  Command command{.slot = slot_of(key)};
  wire::append_resp_request(command.request, words);
  return command;
}

Client::Client(ClientOptions options, Log* log)
    : options_(std::move(options)), log_(log), next_seed_(runtime::random_seed()) {
  PENSTOCK_CHECK(!options_.seeds.empty());
  map_ = options_.cluster ? std::make_shared<const SlotMap>()
                          : std::make_shared<const SlotMap>(options_.seeds.front());
  stale_ = options_.cluster;
}

std::vector<Result<Reply>> Client::run(std::span<const Command> commands,
                                       const runtime::Deadline& deadline) {
  std::vector<Result<Reply>> replies;
  replies.reserve(commands.size());
  std::vector<Sending> sendings;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    replies.push_back(fail(ErrorKind::unavailable, "no node of the redis cluster answers"));
    sendings.push_back({.command = i});
  }
  if (options_.cluster && !commands.empty()) refresh(deadline);
  Millis pause = kWaitFirst;
  for (int rounds = 0; !sendings.empty() && rounds < kRoundsMax; ++rounds) {
    Outcome outcome;
    sendings = round(commands, sendings, deadline, replies, outcome);
    if (outcome.refresh) stale_ = true;
    if (sendings.empty() || deadline.passed()) break;
    if (outcome.wait) {
      std::this_thread::sleep_for(std::min(pause, deadline.remaining()));
      pause = std::min(pause * 2, kWaitLongest);
    }
    if (outcome.refresh) refresh(deadline);
  }
  return replies;
}

Result<Reply> Client::run_one(const Command& command, const runtime::Deadline& deadline) {
  return std::move(run({&command, 1}, deadline).front());
}

std::vector<Client::Sending> Client::round(std::span<const Command> commands,
                                           std::span<const Sending> sendings,
                                           const runtime::Deadline& deadline,
                                           std::vector<Result<Reply>>& replies, Outcome& outcome) {
  const std::shared_ptr<const SlotMap> slots = map();
  std::vector<Flight> flights;
  std::vector<Sending> again;
  for (const Sending& sending : sendings) {
    const Endpoint* const owner = slots->owner(commands[sending.command].slot);
    if (owner == nullptr && !sending.ask) {
      again.push_back(sending);
      outcome.refresh = outcome.wait = true;
      continue;
    }
    const Endpoint& node = sending.ask ? *sending.ask : *owner;
    auto flight = std::ranges::find(flights, node, &Flight::node);
    if (flight == flights.end()) {
      flights.push_back({.node = node, .sendings = {}});
      flight = std::prev(flights.end());
    }
    flight->sendings.push_back(sending);
  }
  // All nodes work at the same time.
  for (Flight& flight : flights) fly(flight, commands, deadline);
  for (Flight& flight : flights) land(flight, commands, deadline, replies, again, outcome);
  std::ranges::sort(again, {}, &Sending::command);
  return again;
}

void Client::fly(Flight& flight, std::span<const Command> commands,
                 const runtime::Deadline& deadline) {
  ClientResult<Pool::Lease> lease = pool_of(flight.node)->acquire(deadline);
  if (!lease) {
    flight.error = std::move(lease.error());
    return;
  }
  flight.lease.emplace(std::move(*lease));
  std::vector<const Script*> loaded;
  for (const Sending& sending : flight.sendings) {
    const Command& command = commands[sending.command];
    std::size_t extra = 0;
    if (sending.load && std::ranges::find(loaded, command.script) == loaded.end()) {
      wire::append_resp_request(flight.requests, {"SCRIPT", "LOAD", command.script->text});
      loaded.push_back(command.script);
      ++extra;
    }
    if (sending.ask) {
      wire::append_resp_request(flight.requests, {"ASKING"});
      ++extra;
    }
    flight.requests += command.request;
    flight.extra_replies.push_back(extra);
  }
  if (ClientResult<void> sent = (*flight.lease)->send(flight.requests, deadline); !sent) {
    flight.error = std::move(sent.error());
  }
}

void Client::land(Flight& flight, std::span<const Command> commands,
                  const runtime::Deadline& deadline, std::vector<Result<Reply>>& replies,
                  std::vector<Sending>& again, Outcome& outcome) {
  if (flight.error) return lose(flight, 0, *flight.error, replies, again, outcome);
  for (std::size_t i = 0; i < flight.sendings.size(); ++i) {
    Sending sending = flight.sendings[i];
    ClientResult<Reply> reply = (*flight.lease)->receive(deadline);
    for (std::size_t extra = flight.extra_replies[i]; reply && extra > 0; --extra) {
      reply = (*flight.lease)->receive(deadline);
    }
    if (!reply) return lose(flight, i, reply.error(), replies, again, outcome);
    if (!reply->is_error()) {
      replies[sending.command] = std::move(*reply);
      continue;
    }
    ServerError said = translate(reply->top().text);
    if (said.action == Action::load_script && commands[sending.command].script == nullptr) {
      said.action = Action::fail;
    }
    if (follow(said, flight.node, sending, outcome)) again.push_back(std::move(sending));
    if (!options_.cluster && said.action == Action::move) {
      said.error.what = "redis at " + flight.node.text() +
                        " is a node of a cluster: switch the cluster option on";
    }
    replies[flight.sendings[i].command] = std::unexpected(std::move(said.error));
  }
}

// The connection failed before the reply to the sending `from` came.
void Client::lose(const Flight& flight, std::size_t from, const ClientError& error,
                  std::vector<Result<Reply>>& replies, std::vector<Sending>& again,
                  Outcome& outcome) {
  outcome.refresh = options_.cluster;
  for (std::size_t i = from; i < flight.sendings.size(); ++i) {
    const Sending& sending = flight.sendings[i];
    replies[sending.command] = std::unexpected(error.error);
    // What may have been executed is not sent a second time.
    if (options_.cluster && !error.sent) {
      again.push_back({.command = sending.command});
      outcome.wait = true;
    }
  }
}

// Whether the command is to be sent again.
bool Client::follow(const ServerError& said, const Endpoint& node, Sending& sending,
                    Outcome& outcome) {
  const auto resolved = [&] {
    return Endpoint{.host = said.endpoint.host.empty() ? node.host : said.endpoint.host,
                    .port = said.endpoint.port};
  };
  if (said.action == Action::load_script) {
    // Once loaded it may have been flushed again, or a node after ASKING may lack it too.
    sending.load = true;
    return true;
  }
  if (!options_.cluster) return false;
  sending.ask.reset();
  switch (said.action) {
    case Action::move:
      learn(said.slot, resolved());
      outcome.refresh = true;
      return true;
    case Action::ask:
      sending.ask = resolved();
      return true;
    case Action::wait:
      outcome.wait = true;
      return true;
    case Action::refresh:
      outcome.refresh = outcome.wait = true;
      return true;
    case Action::load_script:
    case Action::fail:
      break;
  }
  return false;
}

std::shared_ptr<Pool> Client::pool_of(const Endpoint& endpoint) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Pool>& pool = pools_[endpoint];
  if (pool == nullptr) {
    pool = std::make_shared<Pool>(options_.connect, endpoint, options_.connections, ++next_seed_,
                                  log_);
  }
  return pool;
}

std::shared_ptr<const SlotMap> Client::map() const {
  const std::lock_guard lock(mutex_);
  return map_;
}

void Client::learn(std::size_t slot, const Endpoint& endpoint) {
  const std::lock_guard lock(mutex_);
  auto changed = std::make_shared<SlotMap>(*map_);
  changed->set(slot, endpoint);
  map_ = std::move(changed);
}

bool Client::refresh(const runtime::Deadline& deadline) {
  std::vector<Endpoint> nodes;
  {
    const std::lock_guard lock(mutex_);
    if (!stale_ && refreshed_ && refreshed_->seconds() < kMapSecondsMax) return true;
    if (refreshed_ && refreshed_->seconds() < kRefreshSecondsMin) return true;
    nodes.assign(map_->masters().begin(), map_->masters().end());
  }
  const bool known = !nodes.empty();
  nodes.insert(nodes.end(), options_.seeds.begin(), options_.seeds.end());
  std::unique_lock alone(refreshing_, std::defer_lock);
  while (!alone.try_lock()) {
    // Who knows no map at all has to wait for it.
    if (known || deadline.passed()) return known;
    std::this_thread::sleep_for(Millis{1});
  }
  if (!known && !map()->masters().empty()) return true;
  for (std::size_t i = 0; i < nodes.size() && !deadline.passed(); ++i) {
    // One node that hangs must not cost all the time there is.
    const runtime::Deadline part(std::max(deadline.remaining() / 2, Millis{1}));
    if (fetch_map(nodes[next_asked_++ % nodes.size()], part)) return true;
  }
  return false;
}

bool Client::fetch_map(const Endpoint& endpoint, const runtime::Deadline& deadline) {
  std::string request;
  wire::append_resp_request(request, {"CLUSTER", "SLOTS"});
  const Result<Reply> reply = run_at(endpoint, request, deadline);
  if (!reply) return false;
  std::optional<SlotMap> fetched = SlotMap::parse(reply->values(), endpoint.host);
  if (!fetched) return false;
  const std::lock_guard lock(mutex_);
  map_ = std::make_shared<const SlotMap>(std::move(*fetched));
  refreshed_.emplace();
  stale_ = false;
  // Nodes that left the cluster; who still uses one holds it.
  std::erase_if(pools_, [&](const auto& pool) {
    const auto stays = [&](std::span<const Endpoint> nodes) {
      return std::ranges::find(nodes, pool.first) != nodes.end();
    };
    return !stays(map_->masters()) && !stays(options_.seeds);
  });
  return true;
}

Result<std::vector<Endpoint>> Client::masters(const runtime::Deadline& deadline) {
  if (options_.cluster) {
    stale_ = true;
    refresh(deadline);
  }
  const std::shared_ptr<const SlotMap> slots = map();
  if (slots->masters().empty()) {
    return fail(ErrorKind::unavailable, "no node of the redis cluster answers");
  }
  return std::vector<Endpoint>(slots->masters().begin(), slots->masters().end());
}

Result<Reply> Client::run_at(const Endpoint& endpoint, std::string_view request,
                             const runtime::Deadline& deadline) {
  const Pool::Lease lease = PENSTOCK_TRY(plain(pool_of(endpoint)->acquire(deadline)));
  PENSTOCK_TRY(plain(lease->send(request, deadline)));
  Reply reply = PENSTOCK_TRY(plain(lease->receive(deadline)));
  if (reply.is_error()) return std::unexpected(translate(reply.top().text).error);
  return reply;
}

Result<void> Client::run_at_masters(std::string_view request, const runtime::Deadline& deadline) {
  const std::vector<Endpoint> all = PENSTOCK_TRY(masters(deadline));
  for (const Endpoint& master : all) {
    PENSTOCK_TRY(run_at(master, request, deadline));
  }
  return {};
}

}  // namespace penstock::store::redis
