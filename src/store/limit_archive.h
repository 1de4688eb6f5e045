// Port: where the usage of throttle keys that lives in memory is kept across restarts. Blocking;
// safe on any thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::store {

// The usage of a key as bytes; empty = forget the key.
struct SavedLimit {
  std::string key;
  std::string state;
};

class LimitArchive {
 public:
  using Visit = std::function<Result<void>(std::string_view key, std::string_view state)>;

  LimitArchive() = default;
  LimitArchive(const LimitArchive&) = delete;
  LimitArchive& operator=(const LimitArchive&) = delete;
  virtual ~LimitArchive() = default;

  // All or none of `changes`, durable when it returns; of one key, what comes later is newer.
  virtual Result<void> save(std::span<const SavedLimit> changes) = 0;

  // Everything that is kept; an error of `visit` ends the walk.
  virtual Result<void> load(const Visit& visit) = 0;
};

}  // namespace penstock::store
