// How parts in a given order become calls of lua/limits.lua, and what those calls say. Parts that
// share a key end up in one call, in their order, or one of them waits until the other is decided.
// Pure; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/limits/limit.h"
#include "engine/redis/client.h"
#include "store/limits/ports.h"

namespace penstock::store::redis {

// A request, or that part of one whose keys lie in one slot: what Redis can decide atomically.
struct Part {
  std::span<const LimitCheck> checks;
  std::int64_t cost = 1;
  bool tried = false;  // says what would be, and charges nothing
  std::span<core::LimitStatus> statuses;
  Result<bool> admitted = fail(ErrorKind::unavailable, "redis did not answer");
};

struct KeyRef {
  std::uint32_t index = 0;  // among the keys of its kind
  bool log = false;         // of an exact log
};

struct CallOptions {
  std::string_view prefix;     // of the names of keys
  std::optional<Instant> now;  // empty = the server's clock
  Millis grace{0};             // that keys outlive their usage
};

// One call of lua/limits.lua: the parts it decides, its bytes, and its answer. Pure.
class ScriptCall {
 public:
  // Redis does nothing else meanwhile: some 0.2 ms for so many keys.
  static constexpr std::size_t kKeysMax = 128;
  static constexpr std::size_t kPartsMax = 512;
  // The script's stack holds 8,000 values.
  static constexpr std::size_t kNumbersMax = 6'000;

  // Whether an empty call could take the part at all.
  static bool could_take(const Part& part) noexcept;
  bool has_room_for(const Part& part, std::size_t new_keys) const noexcept;

  KeyRef add_key(std::string_view key, bool log);  // outlives this
  // `keys`: for each of its checks. `index` is the caller's, for parts().
  void add(const Part& part, std::size_t index, std::span<const KeyRef> keys);

  std::span<const std::size_t> parts() const noexcept { return indexes_; }
  Command command(const CallOptions& options) const;

  // Fills the parts from the answer; those that the script handed back are appended to `back`.
  Result<void> read(std::string_view answer, std::span<Part> parts,
                    std::vector<std::size_t>& back) const;

 private:
  struct Check {
    KeyRef key;
    std::int32_t limit = 0;  // from 1, negative for a shadow
  };

  std::int32_t limit_number(const core::Limit& limit);
  std::size_t numbers() const noexcept;

  std::vector<std::string_view> small_keys_;
  std::vector<std::string_view> log_keys_;
  std::vector<core::Limit> limits_;
  std::vector<Check> checks_;
  std::vector<std::size_t> indexes_;
  struct Request {
    std::int64_t cost = 0;
    bool tried = false;
    std::size_t checks = 0;
  };
  std::vector<Request> requests_;
};

struct Plan {
  std::vector<ScriptCall> calls;   // no two of them share a key
  std::vector<std::size_t> here;   // for the core, after the calls
  std::vector<std::size_t> later;  // for another plan, after all of the above
};

struct PlanOptions {
  std::string_view prefix;  // of the names of keys
  bool by_slot = false;     // keys of a call lie in one slot; those of each part do already
  bool all_here = false;    // the script can decide none of it
};

Plan plan_calls(std::span<const Part> parts, std::span<const std::size_t> pending,
                const PlanOptions& options);

}  // namespace penstock::store::redis
