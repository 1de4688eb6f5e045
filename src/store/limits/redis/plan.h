// How parts in a given order become calls of the script. Parts that share a key end up in one call,
// in their order, or one of them waits until the other is decided. Pure; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/limits/redis/script_call.h"

namespace penstock::store::redis {

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
