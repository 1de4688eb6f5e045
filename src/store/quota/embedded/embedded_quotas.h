// QuotaStore on the engine. Safe on any thread: what changes quotas takes the writer's mutex for
// one step, the rest only reads.
#pragma once

#include "store/embedded/writer.h"
#include "store/queue/embedded/enqueue_batch.h"
#include "store/quota/embedded/quota_batch.h"
#include "store/quota/ports.h"

namespace penstock::store::embedded {

class EmbeddedQuotas final : public QuotaStore {
 public:
  explicit EmbeddedQuotas(Writer& writer) : writer_(writer), enqueue_(writer) {}

  Result<Quota> put(UserId user, const QuotaRule& rule, std::optional<Instant> now) override;
  Result<std::optional<Quota>> find(UserId user) override;
  Result<bool> remove(UserId user) override;
  std::vector<Result<Sent>> send(std::span<const Send> sends, std::optional<Instant> now) override;
  std::vector<Result<Charged>> charge(std::span<const Charge> charges,
                                      std::optional<Instant> now) override;
  Result<void> give_back(std::span<const GiveBack> charges) override;
  Result<void> record(std::span<const UsageDelta> deltas) override;
  Result<std::vector<UsagePoint>> usage(UserId user, Instant from, Instant to,
                                        std::size_t limit) override;
  Result<std::vector<LimitedUser>> top_limited(Instant from, Instant to,
                                               std::size_t limit) override;
  Result<QuotaSweep> forget(Instant keys_before, Instant usage_before, std::size_t limit) override;

 private:
  Result<void> commit(const Engine::View& view, const QuotaPages& pages);
  Instant at(std::optional<Instant> now) const { return now.value_or(writer_.clock.now()); }

  Writer& writer_;
  EnqueueBatch enqueue_;  // guarded by writer_.mutex
};

}  // namespace penstock::store::embedded
