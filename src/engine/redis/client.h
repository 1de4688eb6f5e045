// Sends commands where their keys lie and follows what Redis says about it: one server, or a
// cluster whose map of slots it keeps. Commands of one call go out together, one round trip for all
// that need no redirection. Thread-safe; every call ends by its deadline.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "engine/redis/pool.h"
#include "engine/redis/script.h"
#include "engine/redis/slots.h"
#include "runtime/clocks.h"

namespace penstock::store::redis {

struct ClientOptions {
  ConnectOptions connect;
  std::vector<Endpoint> seeds;  // at least one; without `cluster` the first is the server
  bool cluster = false;
  std::size_t connections = 4;  // to each node
};

struct Command {
  std::size_t slot = 0;            // of its keys
  std::string request;             // in RESP
  const Script* script = nullptr;  // that it calls by its digest, if it does
};

// A call of `script` with keys of one slot.
Command call_of(const Script& script, std::span<const std::string_view> keys,
                std::span<const std::string_view> arguments);
Command command_of(std::string_view key, std::initializer_list<std::string_view> words);

class Client {
 public:
  // `log` may be null; else it must outlive the client.
  Client(ClientOptions options, Log* log);

  // One reply for each command, in their order. Commands of one slot are executed in their order
  // unless the slot moves meanwhile. A reply is never an error of the server: those are Results.
  std::vector<Result<Reply>> run(std::span<const Command> commands,
                                 const runtime::Deadline& deadline);
  Result<Reply> run_one(const Command& command, const runtime::Deadline& deadline);

  // All masters there are, and one command at one of them, for sweeps over all keys.
  Result<std::vector<Endpoint>> masters(const runtime::Deadline& deadline);
  Result<Reply> run_at(const Endpoint& endpoint, std::string_view request,
                       const runtime::Deadline& deadline);
  // The same at all masters; the first error ends it.
  Result<void> run_at_masters(std::string_view request, const runtime::Deadline& deadline);

  bool cluster() const noexcept { return options_.cluster; }

 private:
  struct Sending;
  struct Flight;
  struct Outcome;

  std::vector<Sending> round(std::span<const Command> commands, std::span<const Sending> sendings,
                             const runtime::Deadline& deadline, std::vector<Result<Reply>>& replies,
                             Outcome& outcome);
  void fly(Flight& flight, std::span<const Command> commands, const runtime::Deadline& deadline);
  void land(Flight& flight, std::span<const Command> commands, const runtime::Deadline& deadline,
            std::vector<Result<Reply>>& replies, std::vector<Sending>& again, Outcome& outcome);
  void lose(const Flight& flight, std::size_t from, const ClientError& error,
            std::vector<Result<Reply>>& replies, std::vector<Sending>& again, Outcome& outcome);
  bool follow(const ServerError& said, const Endpoint& node, Sending& sending, Outcome& outcome);

  std::shared_ptr<Pool> pool_of(const Endpoint& endpoint);
  std::shared_ptr<const SlotMap> map() const;
  void learn(std::size_t slot, const Endpoint& endpoint);
  // Fetches the map from whichever node answers, unless somebody just did or does.
  bool refresh(const runtime::Deadline& deadline);
  bool fetch_map(const Endpoint& endpoint, const runtime::Deadline& deadline);

  const ClientOptions options_;
  Log* const log_;
  std::atomic<bool> stale_{true};  // the map is to be fetched before the next use

  mutable std::mutex mutex_;
  std::shared_ptr<const SlotMap> map_;               // guarded by mutex_; never null
  std::map<Endpoint, std::shared_ptr<Pool>> pools_;  // guarded by mutex_
  std::uint64_t next_seed_;                          // guarded by mutex_
  std::mutex refreshing_;                            // held by who fetches the map
  std::optional<runtime::Stopwatch> refreshed_;      // guarded by mutex_
  std::size_t next_asked_ = 0;                       // guarded by refreshing_
};

}  // namespace penstock::store::redis
