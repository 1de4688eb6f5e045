// SlotStore on the engine. Safe on any thread: assign() takes the writer's mutex, the rest only
// reads.
#pragma once

#include "store/embedded/writer.h"
#include "store/slots/embedded/assign_batch.h"
#include "store/slots/ports.h"

namespace penstock::store::embedded {

class EmbeddedSlots final : public SlotStore {
 public:
  explicit EmbeddedSlots(Writer& writer) : writer_(writer), batch_(writer) {}

  std::vector<Result<Assignment>> assign(std::span<const SlotRequest> requests,
                                         std::optional<Instant> now) override;
  Result<std::vector<std::optional<Slot>>> find(std::span<const EventId> events) override;
  Result<std::vector<WindowUse>> windows(const WindowRange& range) override;
  Result<std::vector<Slot>> scan(const EventId& after, std::size_t limit) override;

 private:
  Writer& writer_;
  AssignBatch batch_;  // guarded by writer_.mutex
};

}  // namespace penstock::store::embedded
