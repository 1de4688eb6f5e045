// What a store of payments must do, as plainly as it can be said: a map of payments beside a queue.
// The oracle of the conformance suite, and the store of service tests. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/payments/ports.h"
#include "store/queue/ports.h"

namespace penstock::store::conformance {

class PaymentModel final : public PaymentStore, public PaymentRuleStore {
 public:
  // Both must outlive this.
  PaymentModel(QueueStore& queue, const Clock& clock) : queue_(queue), clock_(clock) {}

  std::vector<Result<TakenPayment>> take(std::span<const NewPayment> payments,
                                         std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    std::vector<Result<TakenPayment>> answers;
    for (const NewPayment& payment : payments) {
      answers.push_back(failure_ ? std::unexpected(*failure_) : take(payment, at(now)));
    }
    return answers;
  }

  Result<std::vector<Advanced>> advance(std::span<const StatusChange> changes,
                                        std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    if (failure_) return std::unexpected(*failure_);
    std::vector<Advanced> answers;
    for (const StatusChange& change : changes) answers.push_back(advance(change, at(now)));
    return answers;
  }

  Result<void> release(const NewPayment& payment, std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    const auto found = payments_.find(payment.id);
    if (found == payments_.end()) return fail(ErrorKind::not_found, "no such payment");
    if (found->second.record.status != PaymentStatus::held) {
      return fail(ErrorKind::conflict, "not held");
    }
    if (!enqueue(payment, at(now))) return fail(ErrorKind::conflict, "foreign item");
    move(found->second.record, PaymentStatus::scheduled, at(now), payment.reason);
    return {};
  }

  Result<std::optional<PaymentRecord>> find(const PaymentId& id) override {
    const std::lock_guard lock(mutex_);
    const auto found = payments_.find(id);
    if (found == payments_.end()) return std::nullopt;
    return found->second.record;
  }

  Result<PaymentPage> list(std::optional<PaymentStatus> status, const PaymentId& after,
                           std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    PaymentPage page;
    for (auto each = payments_.upper_bound(after); each != payments_.end(); ++each) {
      const PaymentRecord& record = each->second.record;
      PaymentRow row{.id = record.id,
                     .status = record.status,
                     .item = item_state(record.id),
                     .scheduled = record.scheduled,
                     .reason = record.reason};
      if (status && row.shown() != *status) continue;
      if (page.rows.size() == limit) {
        page.next = page.rows.back().id;
        break;
      }
      page.rows.push_back(std::move(row));
    }
    return page;
  }

  // Looks at all of them at once.
  Result<PaymentSweep> forget(Instant before, const PaymentPlace& /*from*/,
                              std::size_t /*limit*/) override {
    const std::lock_guard lock(mutex_);
    PaymentSweep sweep;
    sweep.gone = std::erase_if(payments_, [&](const auto& entry) {
      const PaymentRecord& record = entry.second.record;
      return record.scheduled < before && record.status != PaymentStatus::held &&
             !item_state(record.id);
    });
    return sweep;
  }

  Result<PaymentRuleRecord> put(const core::PaymentRules& rules,
                                std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    rules_ = {.revision = rules_.revision + 1, .rules = rules, .changed = at(now)};
    return rules_;
  }
  Result<PaymentRuleRecord> get() override {
    const std::lock_guard lock(mutex_);
    return rules_;
  }
  Result<std::uint64_t> revision() override {
    const std::lock_guard lock(mutex_);
    return rules_.revision;
  }

  // From now on nothing can be written; none = all works again.
  void set_failure(std::optional<Error> failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }

 private:
  struct Entry {
    PaymentRecord record;
    core::BodyDigest digest{};
  };

  Instant at(std::optional<Instant> now) const { return now.value_or(clock_.now()); }

  std::optional<ItemView> item(const PaymentId& id) {
    return queue_.find(payment_item_type(), ItemId::trusted(id.str())).value();
  }
  std::optional<core::ItemState> item_state(const PaymentId& id) {
    const std::optional<ItemView> found = item(id);
    return found ? std::optional(found->state) : std::nullopt;
  }

  bool enqueue(const NewPayment& payment, Instant now) {
    const NewItem item{.type = payment_item_type(),
                       .id = ItemId::trusted(payment.id.str()),
                       .due = payment.scheduled,
                       .slot = std::nullopt,
                       .context = payment.context,
                       .digest = payment.digest};
    return queue_.enqueue({&item, 1}, now).front()->result == EnqueueResult::created;
  }

  Result<TakenPayment> take(const NewPayment& payment, Instant now) {
    const auto found = payments_.find(payment.id);
    if (found != payments_.end()) {
      const Entry& entry = found->second;
      TakenPayment taken{
          .result = entry.digest == payment.digest ? TakeResult::same : TakeResult::different,
          .status = entry.record.status,
          .item = item_state(payment.id),
          .scheduled = entry.record.scheduled,
          .reason = entry.record.reason};
      if (const auto its = item(payment.id)) taken.scheduled = its->scheduled;
      return taken;
    }
    TakenPayment taken{.result = TakeResult::created,
                       .status = payment.status,
                       .item = std::nullopt,
                       .scheduled = payment.scheduled,
                       .reason = payment.reason};
    if (payment.status == PaymentStatus::scheduled) {
      if (!enqueue(payment, now)) return fail(ErrorKind::conflict, "foreign item");
      taken.item = core::ItemState::ready;
    }
    Entry& entry = payments_[payment.id];
    entry.digest = payment.digest;
    entry.record = {
        .id = payment.id,
        .status = payment.status,
        .created = now,
        .scheduled = payment.scheduled,
        .reason = payment.reason,
        .body = payment.body,
        .history = {
            {.at = now, .from = std::nullopt, .to = payment.status, .detail = payment.reason}}};
    return taken;
  }

  Advanced advance(const StatusChange& change, Instant now) {
    const auto found = payments_.find(change.id);
    if (found == payments_.end()) return {.result = AdvanceResult::unknown, .status = {}};
    PaymentRecord& record = found->second.record;
    AdvanceResult result = AdvanceResult::conflict;
    if (record.status == change.to) {
      result = AdvanceResult::there;
    } else if (core::may_report(record.status, change.to)) {
      result = AdvanceResult::moved;
      move(record, change.to, now, change.detail);
    }
    return {.result = result, .status = record.status};
  }

  static void move(PaymentRecord& record, PaymentStatus to, Instant at, std::string detail) {
    record.history.push_back(
        {.at = at, .from = record.status, .to = to, .detail = std::move(detail)});
    record.status = to;
  }

  QueueStore& queue_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<PaymentId, Entry> payments_;  // guarded by mutex_
  PaymentRuleRecord rules_;              // guarded by mutex_
  std::optional<Error> failure_;         // guarded by mutex_
};

}  // namespace penstock::store::conformance
