// Where the next claim of a type may begin: rows before that place are known to be claimed by this
// node's token, or deleted. A held snapshot keeps deleted rows, and a claim that began at the start
// would walk over all of them. Whatever comes in before the place, here or (as the feed tells) on
// another node, lowers it; and now and then a claim begins at the start all the same. Also
// remembers where claimed items stand, which spares their settlement a look-up. Only hints: what
// they say decides what is read first, not what is true. Thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/clocks.h"
#include "store/queue/ports.h"

namespace penstock::store::postgres {

struct QueuePlace {
  std::int64_t due_us = std::numeric_limits<std::int64_t>::min();
  std::string id;

  friend auto operator<=>(const QueuePlace&, const QueuePlace&) = default;
};

class ClaimHints {
 public:
  // One claim under way, from begin() to end().
  struct Round {
    std::optional<QueuePlace> from;  // empty = the start
    runtime::Stopwatch watch;
    std::int64_t lowest_us = std::numeric_limits<std::int64_t>::max();  // came in meanwhile
  };
  using RoundHandle = std::list<Round>::iterator;

  struct Report {
    bool passed = false;                          // nothing before `place` can be claimed
    QueuePlace place;                             // where the claim ended
    std::optional<std::int64_t> oldest_claim_us;  // of claims passed over, if it began at the start
    bool claimed_any = false;
    std::int64_t moment_us = 0;  // when it was, as the store sees it
  };

  RoundHandle begin(const ClaimRequest& request, std::optional<Instant> now);
  // An empty report: the claim failed.
  void end(const ClaimRequest& request, RoundHandle round, const std::optional<Report>& report);

  // An item came in, or came back, that is due then.
  void lower(const ItemType& type, std::int64_t due_us);
  void forget();  // news may have been missed

  // Where the first READY item may stand, for a look.
  QueuePlace first_place(const ItemType& type);

  // items[i] was claimed where it stood at due_us[i].
  void remember(const ItemType& type, std::span<const ClaimedItem> items,
                std::span<const std::int64_t> due_us);
  // Where these stand, 0 = not known; and forgets it, since they are about to be settled.
  std::vector<std::int64_t> take_places(const ItemType& type,
                                        std::span<const std::string_view> items);

 private:
  struct Entry {
    bool known = false;
    FencingToken token = 0;
    QueuePlace place;
    std::optional<std::int64_t> oldest_claim_us;
    std::int64_t moment_us = 0;
    runtime::Stopwatch since_claim;
    runtime::Stopwatch since_start;  // a claim began at the start
    double start_seconds = 0;        // so long that one took
    std::list<Round> rounds;
    std::unordered_map<std::string, std::int64_t> claimed;
  };

  static bool usable(const Entry& entry, const ClaimRequest& request, std::int64_t now_us);

  std::mutex mutex_;
  std::map<ItemType, Entry> entries_;  // guarded by mutex_
};

}  // namespace penstock::store::postgres
