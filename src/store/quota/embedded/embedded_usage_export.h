// UsageExport on the engine. Safe on any thread. The folder belongs to one process: every turn is
// its own.
#pragma once

#include "store/embedded/writer.h"
#include "store/quota/ports.h"

namespace penstock::store::embedded {

class EmbeddedUsageExport final : public UsageExport {
 public:
  explicit EmbeddedUsageExport(Writer& writer) : writer_(writer) {}

  // Walks over all quotas too, since they hold what was sent in their last minute: some 50 ms for
  // 100,000 users, so that pages should be large.
  Result<std::vector<UserMinute>> page(Instant from, Instant to, std::optional<UsageMark> after,
                                       std::size_t limit) override;
  Result<Turn> take_turn(std::string_view name, std::string_view node, Millis term,
                         std::optional<Instant> now) override;
  Result<bool> set_done_to(std::string_view name, std::string_view node, Instant done_to) override;

 private:
  Writer& writer_;
};

}  // namespace penstock::store::embedded
