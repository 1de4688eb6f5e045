// LimitArchive on the engine. save() takes the writer's mutex for one commit.
#pragma once

#include "store/embedded/writer.h"
#include "store/limits/ports.h"

namespace penstock::store::embedded {

class EmbeddedLimitArchive final : public LimitArchive {
 public:
  explicit EmbeddedLimitArchive(Writer& writer) : writer_(writer) {}

  Result<void> save(std::span<const SavedLimit> changes) override;
  Result<void> load(const Visit& visit) override;

 private:
  Writer& writer_;
};

}  // namespace penstock::store::embedded
