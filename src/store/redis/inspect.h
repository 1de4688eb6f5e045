// What a Redis is like, for people who wonder why it does not work. Blocking; changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/clocks.h"
#include "store/redis/store.h"

namespace penstock::store::redis {

// What INFO says of memory and persistence.
struct MemoryView {
  std::string eviction;         // maxmemory-policy
  std::uint64_t bytes = 0;      // used
  std::uint64_t bytes_max = 0;  // 0 = not limited
  bool appends = false;         // appendonly
};

struct NodeView {
  std::string address;  // host:port
  std::string version;  // "7.0.15"
  std::string mode;     // standalone, cluster, sentinel
  std::string role;     // master, replica
  Instant clock{};      // of the server
  Instant asked{};      // of this machine, half way between question and answer
  bool may_script = true;
  std::optional<MemoryView> memory;  // none: the user may not ask for INFO
};

struct RedisView {
  std::vector<NodeView> nodes;         // every master of a cluster, else the one server
  std::size_t slots_without_node = 0;  // of a cluster
};

// `local` is this machine's. The first thing that cannot be asked ends it.
Result<RedisView> inspect(const RedisOptions& options, const Clock& local,
                          const runtime::Deadline& deadline);

// The values of the text that INFO answers with. Pure; total.
MemoryView parse_info(std::string_view text);

}  // namespace penstock::store::redis
