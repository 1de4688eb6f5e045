#include "daemon/doctor/redis_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "daemon/doctor/server_judgements.h"
#include "daemon/stores.h"
#include "engine/redis/slot.h"
#include "runtime/system_clock.h"

namespace penstock::daemon::doctor {
namespace {

using store::redis::NodeView;
using store::redis::RedisView;

constexpr int kMajorMin = 7;  // docs/redis.md
// Above this share of maxmemory a burst of new keys meets the end of it.
constexpr double kMemoryShareHigh = 0.9;

int major_of(std::string_view version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

Finding judge_redis_server(const NodeView& node) {
  const std::string found =
      fmt::format("Redis {} at {}, {}", node.version, node.address, node.role);
  if (major_of(node.version) < kMajorMin) {
    return failed("redis.server", found, "upgrade the server to Redis 7 or newer");
  }
  if (node.role != "master") {
    return failed("redis.server", found,
                  "name the primary in store.redis.url: replicas do not write");
  }
  return ok("redis.server", found);
}

Finding judge_mode(const RedisView& view, bool cluster) {
  constexpr const char* kName = "redis.mode";
  const std::string& mode = view.nodes.front().mode;
  const bool found = mode == "cluster";
  if (found != cluster) {
    return failed(kName,
                  fmt::format("the server is {}, store.redis.cluster is {}", mode,
                              cluster ? "true" : "false"),
                  fmt::format("set store.redis.cluster: {}", found ? "true" : "false"));
  }
  if (!cluster) return ok(kName, mode);
  if (view.slots_without_node > 0) {
    return failed(
        kName,
        fmt::format("{} of {} slots have no node", view.slots_without_node, store::redis::kSlots),
        fmt::format("redis-cli --cluster fix {}", view.nodes.front().address));
  }
  return ok(kName, fmt::format("cluster of {} masters, all slots served", view.nodes.size()));
}

Finding judge_scripts(const NodeView& node) {
  if (node.may_script) return ok("redis.scripts", "scripts may run");
  return failed("redis.scripts", fmt::format("{} does not let this user run scripts", node.address),
                "give the ACL user +@scripting, as docs/redis.md shows");
}

Finding judge_redis_memory(const NodeView& node) {
  constexpr const char* kName = "redis.memory";
  if (!node.memory) {
    return skipped(kName,
                   "this user may not ask for INFO; to have it checked: ACL SETUSER … +info");
  }
  const store::redis::MemoryView& memory = *node.memory;
  const std::string found = fmt::format(
      "maxmemory-policy {}, {} of {} bytes used at {}", memory.eviction, memory.bytes,
      memory.bytes_max == 0 ? "unlimited" : std::to_string(memory.bytes_max), node.address);
  if (memory.eviction != "noeviction") {
    return failed(kName, found + ": limits are forgotten silently when memory is short",
                  "CONFIG SET maxmemory-policy noeviction, and in redis.conf");
  }
  if (memory.bytes_max > 0 && static_cast<double>(memory.bytes) >
                                  kMemoryShareHigh * static_cast<double>(memory.bytes_max)) {
    return warning(kName, found, "raise maxmemory: a full Redis refuses, and checks fail");
  }
  return ok(kName, found);
}

Finding judge_persistence(const NodeView& node, bool throttle) {
  constexpr const char* kName = "redis.persistence";
  if (!node.memory) return skipped(kName, "this user may not ask for INFO");
  if (node.memory->appends) return ok(kName, "appendonly yes");
  if (!throttle) return ok(kName, "appendonly no; only the gateway's cache is there");
  return warning(
      kName, fmt::format("appendonly no at {}: a restart forgets usage and policies", node.address),
      "CONFIG SET appendonly yes, and in redis.conf");
}

bool is_bad(const Finding& finding) {
  return finding.status == Status::failed || finding.status == Status::warning;
}

}  // namespace

Findings judge_redis(const RedisView& view, const RedisUse& use) {
  Findings findings;
  if (view.nodes.empty()) {
    return {failed("redis.server", "no node was named", "correct store.redis.url")};
  }
  for (const NodeView& node : view.nodes) findings.push_back(judge_redis_server(node));
  findings.push_back(judge_mode(view, use.cluster));
  // Of a cluster's nodes the first that is not as it should be, for each check.
  const auto first_bad = [&](auto judge) {
    Finding chosen = judge(view.nodes.front());
    for (const NodeView& node : view.nodes) {
      if (is_bad(chosen)) break;
      if (Finding other = judge(node); is_bad(other)) chosen = std::move(other);
    }
    return chosen;
  };
  findings.push_back(first_bad(judge_scripts));
  findings.push_back(first_bad(judge_redis_memory));
  findings.push_back(
      first_bad([&](const NodeView& node) { return judge_persistence(node, use.throttle); }));
  findings.push_back(first_bad([](const NodeView& node) {
    return judge_skew("redis.clock", node.clock, node.asked, Micros{0});
  }));
  return findings;
}

Findings check_redis(const Config& config, const runtime::Deadline& deadline) {
  if (config.redis.url.empty()) return {skipped("redis", "store.redis.url is not set")};
  const runtime::SystemClock clock;
  const Result<RedisView> view = store::redis::inspect(redis_options(config), clock, deadline);
  if (!view) {
    return {
        failed("redis.server", view.error().what,
               "start Redis, or correct store.redis.url (host, user), store.redis.password-file "
               "and store.redis.cluster")};
  }
  return judge_redis(*view, {.cluster = config.redis.cluster,
                             .throttle = config.throttle.store == StoreChoice::redis});
}

}  // namespace penstock::daemon::doctor
