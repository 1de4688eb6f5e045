#include "service/payments/payment_service.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/queue/ports.h"

namespace penstock::service {
namespace {

constexpr std::string_view kPayments = "payments";  // too many of them may wait
constexpr std::size_t kReportsMax = 16'384;         // reports of executors that wait
constexpr std::size_t kReportsInBatch = 1'000;      // one step of the store stays under 50 ms
constexpr std::size_t kForgetPayments = 1'000;      // looked at in one step: some 20 ms
// Payments are looked at so long after their term: their items are gone by then, unless they were
// late, and few are looked at in vain.
constexpr Millis kForgetMargin = std::chrono::days{1};

Error no_such_payment(const PaymentId& id) {
  return {.kind = ErrorKind::not_found, .what = "there is no payment " + id.str()};
}

}  // namespace

PaymentRuleCache::Record PaymentRuleCache::keep(store::PaymentRuleRecord record) {
  const std::lock_guard lock(mutex_);
  // A refresh may bring what was read before an own change.
  if (record.revision > record_->revision) {
    record_ = std::make_shared<const store::PaymentRuleRecord>(std::move(record));
  }
  return record_;
}

Result<void> PaymentRuleCache::refresh() {
  const std::uint64_t revision = PENSTOCK_TRY(store_.revision());
  if (revision == current()->revision) return {};
  store::PaymentRuleRecord record = PENSTOCK_TRY(store_.get());
  keep(std::move(record));
  return {};
}

Result<PaymentRuleCache::Record> PaymentRuleCache::put(const core::PaymentRules& rules) {
  store::PaymentRuleRecord record = PENSTOCK_TRY(store_.put(rules, std::nullopt));
  return keep(std::move(record));
}

PaymentService::PaymentService(PaymentOptions options, PaymentPorts ports, Log& log,
                               runtime::Metrics& metrics)
    : options_(options),
      ports_(std::move(ports)),
      log_(log),
      outcomes_(metrics, "payments_total", "Payments by what came of taking them in",
                {"scheduled", "rejected", "held", "repeated", "conflict", "failed"}),
      forgotten_(metrics.counter("penstock_payments_forgotten_total",
                                 "Payments that retention took out of the store")),
      batch_size_(metrics.histogram("penstock_payments_batch_size",
                                    "Payments taken in by one durable write",
                                    {1, 4, 16, 64, 256, 1'024, 4'096, 10'000})),
      rules_(ports_.rules),
      readers_("payment", kPayments),
      reports_({.name = "payment-report", .queue_max = kReportsMax, .batch_max = kReportsInBatch},
               [this](std::span<store::StatusChange> changes) { return advance(changes); }),
      batcher_({.name = "payment-write",
                .workers = options_.writers,
                .join_min = options_.join_min,
                .queue_max = options_.queue_max,
                .batch_max = options_.batch_max},
               [this](std::span<store::NewPayment> payments) { return execute(payments); }),
      rules_ticker_("payment-rules", PaymentRuleCache::kRefreshInterval,
                    [this](const auto&) { refresh_rules(); }),
      retention_ticker_("payment-prune", options_.retention_interval,
                        [this](const auto& should_stop) { forget_old(should_stop); }) {
  metrics.gauge_function("penstock_payments_waiting", "Payments waiting to be written",
                         [this] { return static_cast<double>(batcher_.waiting()); });
}

Result<std::unique_ptr<PaymentService>> PaymentService::start(PaymentOptions options,
                                                              PaymentPorts ports, Log& log,
                                                              runtime::Metrics& metrics) {
  std::unique_ptr<PaymentService> service(
      new PaymentService(options, std::move(ports), log, metrics));
  PENSTOCK_TRY(service->rules_.refresh());
  return service;
}

void PaymentService::stop() {
  rules_ticker_.stop();
  retention_ticker_.stop();
  batcher_.stop();
  reports_.stop();
  readers_.stop();
}

store::NewPayment PaymentService::payment_of(core::PaymentCall&& call,
                                             const core::PaymentRules& rules, Instant now) const {
  store::NewPayment payment{.id = call.id,
                            .status = core::PaymentStatus::scheduled,
                            .scheduled = core::scheduled_time(call.execution, now),
                            .reason = {},
                            .body = ports_.format.body(call),
                            .context = {},
                            .digest = call.digest};
  if (const core::PaymentRule* rule = core::first_match(rules, call)) {
    payment.status = rule->then == core::RuleAction::hold ? core::PaymentStatus::held
                                                          : core::PaymentStatus::rejected;
    payment.reason = rule->reason;
  } else {
    payment.context = ports_.format.context(call, now);
  }
  return payment;
}

void PaymentService::take(std::vector<core::PaymentCall> calls, std::string request_id,
                          std::move_only_function<void(Taken)> done) {
  if (calls.empty()) return done({});
  const PaymentRuleCache::Record rules = rules_.current();
  const Instant now = ports_.clock.now();
  std::vector<store::NewPayment> payments;
  payments.reserve(calls.size());
  for (core::PaymentCall& call : calls) {
    payments.push_back(payment_of(std::move(call), rules->rules, now));
  }
  const std::size_t count = payments.size();
  decltype(batcher_)::Done answer = [this, done = std::move(done),
                                     request_id = std::move(request_id)](Taken answers) mutable {
    if (log_.enabled(LogLevel::debug)) {
      log_.debug("payments.taken", {{"request_id", request_id}, {"payments", answers.size()}});
    }
    done(std::move(answers));
  };
  if (!batcher_.submit(std::move(payments), std::move(answer))) {
    // NOLINTNEXTLINE(bugprone-use-after-move): a refused submit has taken nothing.
    answer(Taken(count, std::unexpected(too_many(kPayments))));
  }
}

PaymentService::Outcome PaymentService::outcome_of(const Answer& answer) noexcept {
  if (!answer) {
    return answer.error().kind == ErrorKind::conflict ? Outcome::conflict : Outcome::failed;
  }
  if (answer->result == store::TakeResult::same) return Outcome::repeated;
  if (answer->result == store::TakeResult::different) return Outcome::conflict;
  if (answer->status == core::PaymentStatus::rejected) return Outcome::rejected;
  return answer->status == core::PaymentStatus::held ? Outcome::held : Outcome::scheduled;
}

std::vector<PaymentService::Answer> PaymentService::execute(std::span<store::NewPayment> payments) {
  batch_size_.observe(static_cast<double>(payments.size()));
  if (const Result<void> made = make_item_type(); !made) {
    return std::vector<Answer>(payments.size(), std::unexpected(made.error()));
  }
  std::vector<Answer> answers = ports_.payments.take(payments, std::nullopt);
  const Instant soon = ports_.clock.now() + store::kAnnounceWithin;
  bool news = false;
  for (const Answer& answer : answers) {
    outcomes_[outcome_of(answer)].add();
    news |= answer && answer->result == store::TakeResult::created &&
            answer->status == core::PaymentStatus::scheduled && answer->scheduled < soon;
  }
  if (news) ports_.wake();
  return answers;
}

Result<void> PaymentService::make_item_type() {
  if (type_is_there_) return {};
  const auto known = PENSTOCK_TRY(ports_.types.find(store::payment_item_type()));
  if (!known) {
    core::ItemTypeSettings settings;
    settings.enabled = false;
    const auto made = ports_.types.put(store::payment_item_type(), 0, settings, std::nullopt);
    // A conflict: another node was faster.
    if (!made && made.error().kind != ErrorKind::conflict) return std::unexpected(made.error());
    if (made) log_.info("payments.type_made", {{"item_type", "PAYMENT"}, {"enabled", false}});
  }
  type_is_there_ = true;
  return {};
}

Result<PaymentView> PaymentService::view(const PaymentId& id) {
  std::optional<store::PaymentRecord> payment = PENSTOCK_TRY(ports_.payments.find(id));
  if (!payment) return std::unexpected(no_such_payment(id));
  std::optional<store::ItemView> item =
      PENSTOCK_TRY(ports_.queue.find(store::payment_item_type(), ItemId::trusted(id.str())));
  return view_payment(std::move(*payment), std::move(item));
}

void PaymentService::find(PaymentId id, Done<PaymentView> done) {
  readers_.read(std::move(done), [this, id = std::move(id)] { return view(id); });
}

Result<PaymentView> PaymentService::release_now(const PaymentId& id, const std::string& who) {
  const std::optional<store::PaymentRecord> found = PENSTOCK_TRY(ports_.payments.find(id));
  if (!found) return std::unexpected(no_such_payment(id));
  const store::PaymentRecord& record = *found;
  core::PaymentCall call = PENSTOCK_TRY(ports_.format.read_body(id, record.body));
  const Result<void> released = ports_.payments.release(
      {.id = id,
       .status = core::PaymentStatus::scheduled,
       .scheduled = core::scheduled_time(call.execution, ports_.clock.now()),
       .reason = "released by " + who,
       .body = {},
       .context = ports_.format.context(call, record.created),
       .digest = call.digest},
      std::nullopt);
  if (!released) return std::unexpected(released.error());
  ports_.wake();
  return view(id);
}

void PaymentService::release(PaymentId id, std::string who, std::string request_id,
                             Done<PaymentView> done) {
  readers_.read(std::move(done), [this, id = std::move(id), who = std::move(who),
                                  request_id = std::move(request_id)] {
    Result<PaymentView> released = release_now(id, who);
    if (released) {
      log_.info("payments.released",
                {{"request_id", request_id}, {"payment_id", id.str()}, {"who", who}});
    }
    return released;
  });
}

void PaymentService::move_item(ItemMove move, std::string_view event, PaymentId id,
                               std::string request_id, Done<PaymentView> done) {
  readers_.read(std::move(done),
                [this, move, event, id = std::move(id),
                 request_id = std::move(request_id)]() -> Result<PaymentView> {
                  const Result<PaymentView> known = view(id);
                  if (!known) return known;
                  const auto moved = (ports_.queue.*move)(store::payment_item_type(),
                                                          ItemId::trusted(id.str()), std::nullopt);
                  if (!moved && moved.error().kind == ErrorKind::not_found) {
                    return fail(ErrorKind::conflict,
                                fmt::format("the payment is {} and not in the queue",
                                            core::payment_status_name(known->payment.status)));
                  }
                  if (!moved) return std::unexpected(moved.error());
                  log_.info(event, {{"request_id", request_id}, {"payment_id", id.str()}});
                  ports_.wake();
                  return view(id);
                });
}

void PaymentService::cancel(PaymentId id, std::string request_id, Done<PaymentView> done) {
  move_item(&store::QueueStore::cancel, "payments.cancelled", std::move(id), std::move(request_id),
            std::move(done));
}

void PaymentService::redrive(PaymentId id, std::string request_id, Done<PaymentView> done) {
  move_item(&store::QueueStore::redrive, "payments.redriven", std::move(id), std::move(request_id),
            std::move(done));
}

std::vector<Result<store::Advanced>> PaymentService::advance(
    std::span<store::StatusChange> changes) {
  const Result<std::vector<store::Advanced>> done = ports_.payments.advance(changes, std::nullopt);
  if (!done) {
    return std::vector<Result<store::Advanced>>(changes.size(), std::unexpected(done.error()));
  }
  return {done->begin(), done->end()};
}

void PaymentService::report(PaymentId id, core::PaymentStatus status, std::string who,
                            std::string request_id, Done<PaymentView> done) {
  std::vector<store::StatusChange> one;
  one.push_back({.id = id, .to = status, .detail = "reported by " + who});
  decltype(reports_)::Done answer =
      [this, id = std::move(id), status, request_id = std::move(request_id),
       done = std::move(done)](std::vector<Result<store::Advanced>> answers) mutable {
        const Result<store::Advanced>& advanced = answers.front();
        if (!advanced) return done(std::unexpected(advanced.error()));
        if (advanced->result == store::AdvanceResult::unknown) {
          return done(std::unexpected(no_such_payment(id)));
        }
        if (advanced->result == store::AdvanceResult::conflict) {
          return done(
              fail(ErrorKind::conflict,
                   "the payment is " + std::string(core::payment_status_name(advanced->status)) +
                       " and cannot become " + std::string(core::payment_status_name(status))));
        }
        if (log_.enabled(LogLevel::debug)) {
          log_.debug("payments.reported", {{"request_id", request_id},
                                           {"payment_id", id.str()},
                                           {"status", core::payment_status_name(status)}});
        }
        find(std::move(id), std::move(done));
      };
  if (!reports_.submit(std::move(one), std::move(answer))) {
    // NOLINTNEXTLINE(bugprone-use-after-move): a refused submit has taken nothing.
    answer({std::unexpected(too_many(kPayments))});
  }
}

void PaymentService::list(std::optional<core::PaymentStatus> status, PaymentId after,
                          std::size_t limit, Done<store::PaymentPage> done) {
  readers_.read<ReadCost::heavy>(std::move(done), [this, status, after = std::move(after), limit] {
    return ports_.payments.list(status, after, limit);
  });
}

void PaymentService::put_rules(core::PaymentRules rules, std::string request_id,
                               Done<core::PaymentRules> done) {
  readers_.read(std::move(done),
                [this, rules = std::move(rules),
                 request_id = std::move(request_id)]() -> Result<core::PaymentRules> {
                  const PaymentRuleCache::Record put = PENSTOCK_TRY(rules_.put(rules));
                  log_.info("payments.rules_changed", {{"request_id", request_id},
                                                       {"rules", rules.size()},
                                                       {"revision", put->revision}});
                  return rules;
                });
}

void PaymentService::refresh_rules() {
  const Result<void> refreshed = rules_.refresh();
  if (refreshed) {
    refresh_failed_ = false;
  } else if (!refresh_failed_.exchange(true)) {
    log_.warn("payments.rules_not_read", {{"error", refreshed.error().what}});
  }
}

void PaymentService::forget_old(const std::function<bool()>& should_stop) {
  const Result<Instant> before =
      store::older_than(ports_.retention_clock, ports_.clock, options_.retention + kForgetMargin);
  std::optional<store::PaymentPlace> place = store::PaymentPlace{};
  while (place && !should_stop()) {
    Result<store::PaymentSweep> sweep =
        before ? ports_.payments.forget(*before, *place, kForgetPayments)
               : std::unexpected(before.error());
    if (!sweep) {
      log_.warn("payments.forget_failed", {{"error", sweep.error().what}});
      return;
    }
    forgotten_.add(sweep->gone);
    place = std::move(sweep->next);
  }
}

}  // namespace penstock::service
