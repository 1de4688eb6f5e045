// AttemptStore on the engine: one row for each. Safe on any thread.
#pragma once

#include "store/embedded/writer.h"
#include "store/quota/ports.h"

namespace penstock::store::embedded {

class EmbeddedAttempts final : public AttemptStore {
 public:
  explicit EmbeddedAttempts(Writer& writer) : writer_(writer) {}

  Result<void> append(std::span<const Attempt> attempts) override;
  Result<std::vector<Attempt>> page(Instant from, Instant to, std::optional<AttemptMark> after,
                                    std::size_t limit) override;
  Result<std::size_t> forget_attempts(Instant before, std::size_t limit) override;

 private:
  Writer& writer_;
};

}  // namespace penstock::store::embedded
