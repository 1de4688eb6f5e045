// DeliveryStore on the engine. Safe on any thread: what changes parts takes the writer's mutex for
// one step, the rest only reads.
#pragma once

#include "store/embedded/writer.h"
#include "store/quota/ports.h"

namespace penstock::store::embedded {

class EmbeddedDeliveries final : public DeliveryStore {
 public:
  explicit EmbeddedDeliveries(Writer& writer) : writer_(writer) {}

  Result<void> note_taken(std::span<const TakenPart> parts, std::optional<Instant> now) override;
  Result<std::vector<bool>> note_reports(std::span<const PartReport> reports,
                                         std::optional<Instant> now) override;
  Result<std::vector<core::DeliveryPart>> find_parts(const ItemId& message) override;
  Result<std::size_t> forget_parts(Instant before, std::size_t limit) override;

 private:
  Instant at(std::optional<Instant> now) const { return now.value_or(writer_.clock.now()); }

  Writer& writer_;
};

}  // namespace penstock::store::embedded
