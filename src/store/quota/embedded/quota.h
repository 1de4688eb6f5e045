// The ports of the gateway on the engine. Safe on any thread: what changes something takes the
// writer's mutex for one step, the rest only reads.
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
  Writer& writer_;
  EnqueueBatch enqueue_;  // guarded by writer_.mutex
};

class EmbeddedDeliveries final : public DeliveryStore {
 public:
  explicit EmbeddedDeliveries(Writer& writer) : writer_(writer) {}

  Result<void> note_taken(std::span<const TakenPart> parts, std::optional<Instant> now) override;
  Result<std::vector<bool>> note_reports(std::span<const PartReport> reports,
                                         std::optional<Instant> now) override;
  Result<std::vector<core::DeliveryPart>> find_parts(const ItemId& message) override;
  Result<std::size_t> forget_parts(Instant before, std::size_t limit) override;

 private:
  Writer& writer_;
};

// The folder belongs to one process: every turn is its own.
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

// One row for each attempt.
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
  Writer& writer_;
};

}  // namespace penstock::store::embedded
