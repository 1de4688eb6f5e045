// SlotLife on the engine: a slot, its place in its window and its term change in one write. Safe on
// any thread: all of it takes the writer's mutex.
#pragma once

#include "store/embedded/writer.h"
#include "store/slots/ports.h"

namespace penstock::store::embedded {

class EmbeddedLife final : public SlotLife {
 public:
  explicit EmbeddedLife(Writer& writer) : writer_(writer) {}

  Result<core::Slot> confirm(const EventId& event, std::optional<Instant> now) override;
  Result<core::Slot> release(const EventId& event, std::optional<Instant> now) override;
  Result<std::size_t> expire(std::size_t limit, std::optional<Instant> now) override;

 private:
  Writer& writer_;
};

}  // namespace penstock::store::embedded
