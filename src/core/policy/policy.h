// A policy says which limit holds for a key, or for all keys that match a pattern.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "core/limits/limit.h"
#include "core/limits/reciprocal.h"

namespace penstock::core {

// What to do while the shared engine that holds the usage does not answer.
enum class OnStoreFailure : std::uint8_t { deny, allow, local };

// What people write; the store numbers it.
struct PolicyDraft {
  std::string key;  // exact, or a pattern: `*` stands for any run of characters, also none
  Limit limit;
  std::string refill_text = {};  // the rate as it was written, to show it again
  bool shadow = false;           // decides and counts, never denies
  OnStoreFailure on_store_failure = OnStoreFailure::deny;
};

struct Policy {
  std::int64_t id = 0;       // the same through all versions; 0 = the built-in default
  std::int64_t version = 0;  // from 1
  PolicyDraft draft;
  Instant changed{};
  bool deleted = false;        // only in a history
  RateReciprocals quick = {};  // of its rate; set where policies are compiled for deciding
};

}  // namespace penstock::core
