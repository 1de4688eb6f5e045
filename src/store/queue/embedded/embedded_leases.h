// LeaseStore on the engine. Safe on any thread: acquire() and release() take the writer's mutex.
#pragma once

#include "store/embedded/writer.h"
#include "store/queue/embedded/queue_encoding.h"
#include "store/queue/ports.h"

namespace penstock::store::embedded {

class EmbeddedLeases final : public LeaseStore {
 public:
  explicit EmbeddedLeases(Writer& writer) : writer_(writer) {}

  Result<std::optional<Lease>> acquire(const LeaseRequest& request,
                                       std::optional<Instant> now) override;
  Result<void> release(const ItemType& type, std::string_view node) override;
  Result<LeaseView> view(const ItemType& type, std::optional<Instant> now) override;

  // Gives every lease back; tokens and pauses stay. For the start, holding the writer's mutex: this
  // process has the folder, so every former holder is dead, whatever the clock says of its term.
  Result<void> end_all();

 private:
  Result<LeaseRecord> read(const ItemType& type);
  Result<void> write(const ItemType& type, const LeaseRecord& lease);

  Writer& writer_;
};

}  // namespace penstock::store::embedded
