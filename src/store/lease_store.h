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

struct Lease {
  FencingToken token = 0;
  bool fresh = false;  // got just now, and not renewed
};

class LeaseStore {
 public:
  LeaseStore() = default;
  LeaseStore(const LeaseStore&) = delete;
  LeaseStore& operator=(const LeaseStore&) = delete;
  virtual ~LeaseStore() = default;

  // `node` names one life of one process: what was claimed by an earlier one is another's. Takes or
  // renews the lease for `term` from the store's now; nothing when another node has it.
  // The holder counts the term from before it asked, so that it always stops before another begins.
  virtual Result<std::optional<Lease>> acquire(const ItemType& type, std::string_view node,
                                               Millis term, std::optional<Instant> now) = 0;

  // Gives the lease back, so that another node need not wait. Of somebody else's lease: nothing.
  virtual Result<void> release(const ItemType& type, std::string_view node) = 0;

  // Who has it now, for people.
  virtual Result<std::optional<std::string>> holder(const ItemType& type,
                                                    std::optional<Instant> now) = 0;
};

}  // namespace penstock::store
