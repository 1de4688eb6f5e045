// What the one writer remembers of the queue: per type how many items are in each state, what is
// claimed, and where the first due item can be. Bounded by the number of types and of claimed items
// (about 400 bytes each), not by what waits. Changed by the thread that holds the writer's mutex,
// after its commit; summaries are readable by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/engine.h"
#include "store/queue/embedded/queue_encoding.h"

namespace penstock::store::embedded {

class QueueIndex {
 public:
  // A claim of which not all items are settled.
  struct OpenClaim {
    ClaimRecord record;    // names those settled or claimed anew, too
    std::size_t left = 0;  // still CLAIMED by it
  };
  struct Held {
    ItemId id;
    ItemRecord record;
  };
  struct Type {
    TypeState state;
    // No record of queue_due (queue_settled) has a lower key. Without it a walk would begin with
    // all that was ever taken from the front, whose traces RocksDB clears away only in time.
    std::string due_from;
    std::string settled_from;
    std::unordered_map<ItemId, ItemRecord> claimed;  // as they are, which no record may say
    std::map<std::uint64_t, OpenClaim> claims;       // by number
  };
  // What one committed step did to a type.
  struct Effect {
    TypeState state;                         // as it is after the step
    std::optional<std::string> due_low;      // the lowest key put
    std::optional<std::string> settled_low;  // the lowest key put
    std::optional<std::string> due_from;     // nothing is left before
    std::optional<std::string> settled_from;
    std::map<std::uint64_t, std::size_t> left_claims;  // items that a claim holds no more
  };
  struct Glance {
    TypeState state;
    std::string due_from;
  };

  // Reads all of it anew.
  Result<void> load(const Engine::View& view);

  // Any thread.
  std::optional<Glance> glance(const ItemType& type) const;
  std::optional<ItemRecord> claimed(const ItemType& type, const ItemId& id) const;

  // The writer's. Made when it is not there.
  Type& of(const ItemType& type);
  void apply(const ItemType& type, const Effect& effect);
  void hold(Type& type, std::uint64_t claim, ClaimRecord record, std::vector<Held> items);
  void let_go(Type& type, const std::vector<ItemId>& ids);

 private:
  using Types = std::map<ItemType, Type>;

  static Result<Types> read_types(const Engine::View& view);
  static Result<void> read_claims(const Engine::View& view, Types& types);

  // For `state`, `due_from` and `claimed` of the types and for the map itself; the writer alone
  // changes them, and reads them without it.
  mutable std::mutex mutex_;
  Types types_;
};

// What claim number `number` makes of a READY item, when its trail has room for that; else nothing,
// and false.
bool claim_lightly(ItemRecord& record, std::uint64_t number, FencingToken token, Instant at);

}  // namespace penstock::store::embedded
