// Port: who dispatches an item type. At most one node holds the lease of a type at a time; each new
// holder gets a larger token than all before, which fences off whoever was slow. Blocking;
// thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/queue_store.h"

namespace penstock::store {

struct LeaseRequest {
  ItemType type;
  // One life of one process: what was claimed by an earlier one is another's.
  std::string node;
  Millis term{0};          // from the store's now
  Instant paused_until{};  // the sink asked the holder to wait so long; kept for the next holder
};

struct Lease {
  FencingToken token = 0;
  bool fresh = false;      // another node may have held it since this one asked last
  Instant paused_until{};  // as the holder before left it when fresh, else as asked
};

struct LeaseView {
  std::optional<std::string> holder;  // empty when the term is over or was never begun
  Instant paused_until{};
};

class LeaseStore {
 public:
  LeaseStore() = default;
  LeaseStore(const LeaseStore&) = delete;
  LeaseStore& operator=(const LeaseStore&) = delete;
  virtual ~LeaseStore() = default;

  // Takes or renews the lease; nothing when another node has it. A holder whose term is over and
  // who finds that nobody came meanwhile goes on with the token it had. The holder counts the term
  // from before it asked, so that it always stops before another begins.
  virtual Result<std::optional<Lease>> acquire(const LeaseRequest& request,
                                               std::optional<Instant> now) = 0;

  // Gives the lease back, so that another node need not wait. Of somebody else's lease: nothing.
  virtual Result<void> release(const ItemType& type, std::string_view node) = 0;

  virtual Result<LeaseView> view(const ItemType& type, std::optional<Instant> now) = 0;
};

}  // namespace penstock::store
