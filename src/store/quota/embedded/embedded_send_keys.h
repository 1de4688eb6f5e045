// SendKeys on the engine. Safe on any thread: claims and settlements take the writer's mutex for
// one step, a look only reads.
#pragma once

#include "store/embedded/writer.h"
#include "store/quota/ports.h"

namespace penstock::store::embedded {

class EmbeddedSendKeys final : public SendKeys {
 public:
  explicit EmbeddedSendKeys(Writer& writer) : writer_(writer) {}

  Result<std::vector<KeyView>> look(std::span<const KeyClaim> keys, Millis live,
                                    std::optional<Instant> now) override;
  Result<std::vector<KeyView>> claim(std::span<const KeyClaim> keys, Millis live,
                                     std::optional<Instant> now) override;
  Result<std::vector<bool>> settle(std::span<const KeySettlement> keys,
                                   std::optional<Instant> now) override;

 private:
  Instant at(std::optional<Instant> now) const { return now.value_or(writer_.clock.now()); }

  Writer& writer_;
};

}  // namespace penstock::store::embedded
