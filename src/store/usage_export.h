// Port: reading what all users did, in pages, and how far it was handed on to somebody else. A
// backend proves itself with store/conformance/usage_export_suite.h. Implementations are blocking
// and safe to call from several threads at once. `now` is for tests; null = the store's own clock.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/quota_store.h"

namespace penstock::store {

// Where a page ends: the next one begins behind it.
struct UsageMark {
  Instant minute{};
  UserId user;

  friend auto operator<=>(const UsageMark&, const UsageMark&) = default;
};

struct UserMinute {
  UserId user;
  Instant minute{};
  UsageCounts counts;

  friend bool operator==(const UserMinute&, const UserMinute&) = default;
};

class UsageExport {
 public:
  UsageExport() = default;
  UsageExport(const UsageExport&) = delete;
  UsageExport& operator=(const UsageExport&) = delete;
  virtual ~UsageExport() = default;

  // Minutes of [from, to) with anything in them, of all users: by minute, then by user, behind
  // `after`; at most `limit`, the first ones. Each count as it stood at one moment.
  virtual Result<std::vector<UserMinute>> page(Instant from, Instant to,
                                               std::optional<UsageMark> after,
                                               std::size_t limit) = 0;

  // Nodes that share a store hand on in turns: `node` has the turn for `term`, unless another one
  // has it.
  struct Turn {
    bool mine = false;
    std::optional<Instant> done_to;  // minutes before this were handed on; none = nothing was yet
  };
  virtual Result<Turn> take_turn(std::string_view name, std::string_view node, Millis term,
                                 std::optional<Instant> now) = 0;
  // False: another node has taken the turn, and nothing was written.
  virtual Result<bool> set_done_to(std::string_view name, std::string_view node,
                                   Instant done_to) = 0;
};

}  // namespace penstock::store
