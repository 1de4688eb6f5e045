// The use cases of payments: take them in (rules, one durable step with their items), look them up,
// release what is held, hear from executors, and the rules. Calls return at once; the answer comes
// to `done` on one of the service's own threads, exactly once. A full queue answers `overloaded` on
// the calling thread. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "core/payments/payment.h"
#include "core/payments/rules.h"
#include "runtime/batcher.h"
#include "runtime/metrics.h"
#include "runtime/threads.h"
#include "service/outcome_counters.h"
#include "service/reads.h"
#include "store/payments/ports.h"
#include "store/queue/ports.h"
#include "store/retention_clock.h"

namespace penstock::service {

// A payment as people see it: what is kept of it and what the queue says of its item, told as one
// story.
struct PaymentView {
  store::PaymentRecord payment;
  std::optional<store::ItemView> item;
  core::PaymentStatus status = core::PaymentStatus::scheduled;  // as shown
  std::vector<store::PaymentNote> history;                      // oldest first
};

// The history gets an entry for each time the queue gave the payment up (FAILED) or was told to try
// again (SCHEDULED), as long as it waited for its hand-over.
PaymentView view_payment(store::PaymentRecord payment, std::optional<store::ItemView> item);

// The rules of payments as this node last saw them. Own changes count at once, those of other nodes
// with the next refresh(). Thread-safe; only calls that say so block.
class PaymentRuleCache {
 public:
  // A change reaches every node within a second: this leaves the rest for a slow store.
  static constexpr Millis kRefreshInterval{400};

  using Record = std::shared_ptr<const store::PaymentRuleRecord>;

  // `store` must outlive this.
  explicit PaymentRuleCache(store::PaymentRuleStore& store)
      : store_(store), record_(std::make_shared<store::PaymentRuleRecord>()) {}

  // Asks the store whether anything changed, and loads it then. Blocks. On an error all stays as it
  // was.
  Result<void> refresh();
  // Blocks.
  Result<Record> put(const core::PaymentRules& rules);

  Record current() const {
    const std::lock_guard lock(mutex_);
    return record_;
  }

 private:
  Record keep(store::PaymentRuleRecord record);

  store::PaymentRuleStore& store_;
  mutable std::mutex mutex_;
  Record record_;  // guarded by mutex_; never null
};

struct PaymentOptions {
  std::size_t queue_max = 65'536;  // payments waiting to be written
  std::size_t batch_max = 4'096;   // payments in one write
  std::size_t writers = 1;         // batches in flight; more than one only helps a shared store
  std::size_t join_min = 64;  // payments that make another batch in flight worth its round trip
  Millis retention = std::chrono::days{730};
  Millis retention_interval = std::chrono::minutes{1};
};

// How payments are written down, which this room does not know: the functions of wire/payments.h.
struct PaymentFormat {
  std::string (*body)(const core::PaymentCall&) = nullptr;
  std::string (*context)(const core::PaymentCall&, Instant received) = nullptr;
  Result<core::PaymentCall> (*read_body)(const PaymentId&, std::string_view) = nullptr;
};

// All must outlive the service. `wake` is told when a payment is due soon.
struct PaymentPorts {
  store::PaymentStore& payments;
  store::PaymentRuleStore& rules;
  store::QueueStore& queue;
  store::ItemTypeStore& types;
  const Clock& clock;
  std::function<void()> wake;
  PaymentFormat format;
  store::RetentionClock* retention_clock = nullptr;  // null = by `clock` alone
};

class PaymentService {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;
  using Taken = std::vector<Result<store::TakenPayment>>;

  // Reads the rules; fails when the store cannot tell them: no payment passes unseen.
  static Result<std::unique_ptr<PaymentService>> start(PaymentOptions options, PaymentPorts ports,
                                                       Log& log, runtime::Metrics& metrics);
  ~PaymentService() { stop(); }

  // One answer per call, in order; an empty list of calls is answered at once.
  void take(std::vector<core::PaymentCall> calls, std::string request_id,
            std::move_only_function<void(Taken)> done);
  void find(PaymentId id, Done<PaymentView> done);
  // The history names `who`.
  void release(PaymentId id, std::string who, std::string request_id, Done<PaymentView> done);
  // What an executor says; `conflict` when the payment cannot go there. The history names `who`.
  void report(PaymentId id, core::PaymentStatus status, std::string who, std::string request_id,
              Done<PaymentView> done);
  // Takes a waiting payment out of the queue, or tries one again that the queue gave up; `conflict`
  // when it does not stand there.
  void cancel(PaymentId id, std::string request_id, Done<PaymentView> done);
  void redrive(PaymentId id, std::string request_id, Done<PaymentView> done);
  void list(std::optional<core::PaymentStatus> status, PaymentId after, std::size_t limit,
            Done<store::PaymentPage> done);

  core::PaymentRules rules() const { return rules_.current()->rules; }
  void put_rules(core::PaymentRules rules, std::string request_id, Done<core::PaymentRules> done);

  // Finishes what was taken; later calls are answered `overloaded`. Idempotent.
  void stop();

 private:
  PaymentService(PaymentOptions options, PaymentPorts ports, Log& log, runtime::Metrics& metrics);

  using Answer = Result<store::TakenPayment>;

  store::NewPayment payment_of(core::PaymentCall&& call, const core::PaymentRules& rules,
                               Instant now) const;
  std::vector<Answer> execute(std::span<store::NewPayment> payments);
  // The first payment makes the type of its item when nobody has: switched off, so that nothing is
  // handed over before somebody has said where to.
  Result<void> make_item_type();
  std::vector<Result<store::Advanced>> advance(std::span<store::StatusChange> changes);
  Result<PaymentView> view(const PaymentId& id);
  Result<PaymentView> release_now(const PaymentId& id, const std::string& who);
  using ItemMove = Result<store::ItemView> (store::QueueStore::*)(const ItemType&, const ItemId&,
                                                                  std::optional<Instant>);
  void move_item(ItemMove move, std::string_view event, PaymentId id, std::string request_id,
                 Done<PaymentView> done);
  void refresh_rules();
  void forget_old(const std::function<bool()>& should_stop);

  enum class Outcome : std::uint8_t { scheduled, rejected, held, repeated, conflict, failed };
  static Outcome outcome_of(const Answer& answer) noexcept;

  const PaymentOptions options_;
  PaymentPorts ports_;
  Log& log_;
  OutcomeCounters<Outcome, 6> outcomes_;
  runtime::Counter& forgotten_;
  runtime::Histogram& batch_size_;
  PaymentRuleCache rules_;
  std::atomic<bool> refresh_failed_{false};
  std::atomic<bool> type_is_there_{false};  // types are never taken away
  Readers readers_;
  runtime::Batcher<store::StatusChange, Result<store::Advanced>> reports_;
  runtime::Batcher<store::NewPayment, Answer> batcher_;
  runtime::Ticker rules_ticker_;  // last: their threads use all of the above
  runtime::Ticker retention_ticker_;
};

}  // namespace penstock::service
