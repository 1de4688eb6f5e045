#include "service/dispatch/dispatcher.h"

#include <algorithm>
#include <utility>

#include "runtime/threads.h"

namespace penstock::service {
namespace {

runtime::Metrics::Labels labels_of(const ItemType& type) { return {{"item_type", type.str()}}; }

// How long a stop waits for answers of the sink; calls of the store have their own deadline.
constexpr Millis kStopWait = Seconds{10};
// A dispatcher looks at least this often, whatever the interval says: half of the span within which
// a store announces items.
constexpr Millis kLookMax = std::chrono::duration_cast<Millis>(store::kAnnounceWithin) / 2;
constexpr Seconds kRateSpan{1};
constexpr Seconds kNoSinkPause{5};
// A context is held as it was claimed and once more in the message that goes out.
constexpr std::size_t kContextFactor = 2;
// Contexts of one claim: thousands of usual ones, some of the largest.
constexpr std::size_t kClaimBytesMax = std::size_t{16} << 20;
// With less room than this, what is under way goes first.
constexpr std::size_t kClaimBytesMin = std::size_t{64} << 10;

// Contexts that a type may claim which holds `own` bytes of the budget: at most an eighth of that
// for all it holds, a quarter of what is left for one claim.
std::size_t claim_bytes(const runtime::MemoryBudget& memory, std::size_t own) {
  const std::size_t share = memory.max() / 8;
  const std::size_t mine = share > own ? share - own : 0;
  return std::min(kClaimBytesMax, std::min(mine, memory.available() / 4) / kContextFactor);
}

std::size_t bytes_of(const Result<store::Claim>& claim) {
  std::size_t bytes = 0;
  if (!claim) return bytes;
  for (const store::ClaimedItem& item : claim->items)
    bytes += core::kItemBytes + item.context.size();
  return bytes;
}

}  // namespace

DispatchMetrics::DispatchMetrics(runtime::Metrics& metrics, const ItemType& type)
    : claimed(metrics.counter("dispatch_batch_claimed_total", "Items claimed for dispatch",
                              labels_of(type))),
      started(
          metrics.counter("dispatch_workflow_started_total", "Items handed over", labels_of(type))),
      failures(metrics.counter("dispatch_workflow_start_failures_total",
                               "Hand-overs that failed or were refused", labels_of(type))),
      slow_downs(metrics.counter("dispatch_slow_downs_total",
                                 "Answers of the sink that asked for a pause", labels_of(type))),
      late_turns(metrics.counter("dispatch_late_turns_total",
                                 "Hand-overs that could not leave in their turn and took another",
                                 labels_of(type))),
      cycle(metrics.histogram("dispatch_cycle_duration_seconds",
                              "Time from the claim of a batch until all of it was settled",
                              {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120},
                              labels_of(type))),
      lateness(metrics.histogram(
          "dispatch_lateness_seconds", "Time from when an item was due until it was handed over",
          {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60, 600, 3'600},
          labels_of(type))),
      pace_used(metrics.gauge("dispatch_pace_used_ratio",
                              "Hand-overs of the last seconds, as a share of maxPerSecond",
                              labels_of(type))),
      paused(metrics.gauge("dispatch_paused", "1 while the sink has asked for a pause",
                           labels_of(type))),
      lease_held(metrics.gauge("dispatch_lease_held", "1 while this node dispatches the type",
                               labels_of(type))) {}

Dispatcher::Dispatcher(const DispatcherParts& parts, ItemType type, std::uint64_t seed)
    : parts_(parts),
      type_(std::move(type)),
      metrics_(parts_.metrics, type_),
      board_(type_, seed),
      charge_(parts_.memory),
      thread_([this] { run(); }) {}

Dispatcher::~Dispatcher() {
  stop();
  thread_.join();
}

void Dispatcher::wake() { post(News{}); }

void Dispatcher::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  wake_.notify_one();
}

void Dispatcher::post(Event&& event) {
  // Told under the lock: once it is free, the thread may end and this object with it.
  const std::lock_guard lock(mutex_);
  inbox_.push_back(std::move(event));
  if (std::exchange(waiting_, false)) wake_.notify_one();
}

Instant Dispatcher::steady_now() {
  const Instant now = parts_.steady.now();
  board_.set_wall_offset(parts_.wall.now() - now);
  return now;
}

void Dispatcher::run() {
  runtime::set_thread_name("dispatch");
  std::vector<Event> events;
  std::optional<Instant> stop_by;
  for (;;) {
    bool stopping = false;
    {
      const std::lock_guard lock(mutex_);
      events.swap(inbox_);
      stopping = stopping_;
    }
    Instant now = steady_now();
    apply(events, now);
    charge_.force(kContextFactor * board_.bytes());
    events.clear();
    if (stopping && !stop_by) stop_by = now + kStopWait;
    const core::ItemTypeSettings& settings = this->settings();
    core::DispatchBoard::Orders orders = board_.turn(settings, now, stopping);
    if (orders.ask_lease) ask_lease(now);
    if (orders.claim > 0) claim(orders.claim, now);
    if (!orders.settle.empty()) settle(std::move(orders.settle));
    Instant look_again = std::min(orders.look_again, now + kLookMax);
    if (!stopping && traits_.stays_open && board_.holds_lease(now)) sink();
    if (!stopping) send_all(look_again);
    forget_idle_sinks();
    count_pace(now);
    metrics_.lease_held.set(board_.holds_lease(now) ? 1 : 0);
    metrics_.paused.set(board_.paused_until(now) > Instant{} ? 1 : 0);
    if (stop_by) {
      if (board_.is_quiet() || (now >= *stop_by && tasks_ == 0)) break;
      look_again = std::min(look_again, *stop_by);
    }
    now = parts_.steady.now();
    std::unique_lock lock(mutex_);
    if (!inbox_.empty() || stopping_ != stopping || look_again <= now) continue;
    waiting_ = true;
    wake_.wait_for(lock, std::chrono::microseconds((look_again - now).count()),
                   [&] { return !inbox_.empty() || stopping_ != stopping; });
    waiting_ = false;
  }
  if (board_.token() > 0) {
    if (const Result<void> released = parts_.leases.release(type_, parts_.node); !released) {
      parts_.log.warn("dispatch.release_failed",
                      {{"item_type", type_.str()}, {"error", released.error().what}});
    }
  }
  sinks_.clear();  // answers what is under way into an inbox that nobody reads
  metrics_.lease_held.set(0);
}

void Dispatcher::apply(std::vector<Event>& events, Instant now) {
  for (Event& event : events) {
    std::visit([&](auto& each) { on(std::move(each), now); }, event);
  }
}

void Dispatcher::on(LeaseAnswer&& answer, Instant now) {
  --tasks_;
  const store::FencingToken before = board_.token();
  if (!answer.lease) {
    if (!std::exchange(store_failed_, true)) {
      parts_.log.warn("dispatch.lease_failed",
                      {{"item_type", type_.str()}, {"error", answer.lease.error().what}});
    }
  } else {
    store_failed_ = false;
  }
  board_.on_lease(answer.lease, settings(), answer.asked, now);
  const store::FencingToken after = board_.token();
  if (after == before) return;
  cycles_.clear();
  if (after > 0) {
    parts_.log.info("dispatch.lease_taken", {{"item_type", type_.str()}, {"token", after}});
  } else {
    parts_.log.warn("dispatch.lease_lost", {{"item_type", type_.str()}, {"token", before}});
  }
}

void Dispatcher::on(ClaimAnswer&& answer, Instant now) {
  --tasks_;
  if (!answer.claim) {
    parts_.log.warn("dispatch.claim_failed",
                    {{"item_type", type_.str()}, {"error", answer.claim.error().what}});
  } else if (const std::size_t items = answer.claim->items.size(); items > 0) {
    metrics_.claimed.add(items);
    cycles_[answer.claim->batch_id] = {.asked = answer.asked, .open = items};
  }
  board_.on_claim(std::move(answer.claim), answer.limit, settings(), now);
}

void Dispatcher::on(SettleAnswer&& answer, Instant now) {
  --tasks_;
  if (answer.worked) {
    for (const store::Settlement& item : answer.items) {
      const auto cycle = cycles_.find(item.batch_id);
      if (cycle == cycles_.end() || --cycle->second.open > 0) continue;
      metrics_.cycle.observe(std::chrono::duration<double>(now - cycle->second.asked).count());
      cycles_.erase(cycle);
    }
  }
  board_.on_settled(answer.worked, std::move(answer.items), now);
}

void Dispatcher::on(SinkReport&& report, Instant now) {
  --report.from->under_way;
  if (report.answer.outcome == sink::SinkOutcome::late) {
    metrics_.late_turns.add();
    return board_.on_late({.handover = std::move(*report.answer.unsent),
                           .batch_id = std::move(report.batch_id),
                           .taken = report.taken},
                          now);
  }
  ++rate_count_;
  const Micros late = (report.taken + (parts_.wall.now() - now)) - report.scheduled;
  metrics_.lateness.observe(std::max(0.0, std::chrono::duration<double>(late).count()));
  switch (report.answer.outcome) {
    case sink::SinkOutcome::done:
      metrics_.started.add();
      break;
    case sink::SinkOutcome::failed:
    case sink::SinkOutcome::refused:
      metrics_.failures.add();
      break;
    case sink::SinkOutcome::slow_down:
      metrics_.slow_downs.add();
      break;
    case sink::SinkOutcome::late:
      break;
  }
  board_.on_answer(report.id, report.batch_id, report.retry_count, std::move(report.answer),
                   settings(), now);
}

void Dispatcher::submit(runtime::TaskQueue& queue, runtime::TaskQueue::Task&& task,
                        Event&& refused) {
  ++tasks_;
  if (!queue.submit(std::move(task))) post(std::move(refused));
}

void Dispatcher::ask_lease(Instant now) {
  store::LeaseRequest request{.type = type_,
                              .node = parts_.node,
                              .term = core::kLeaseTerm,
                              .paused_until = board_.paused_until(now)};
  submit(
      parts_.renewals,
      [this, request = std::move(request), now] {
        post(LeaseAnswer{.lease = parts_.leases.acquire(request, std::nullopt), .asked = now});
      },
      LeaseAnswer{.lease = fail(ErrorKind::overloaded, "too many leases wait"), .asked = now});
}

void Dispatcher::claim(std::size_t limit, Instant now) {
  // With nothing in hand a claim gives one item even without room: items go on, whoever holds the
  // memory.
  const std::size_t own = charge_.bytes();
  if (own > 0 && claim_bytes(parts_.memory, own) < kClaimBytesMin) return board_.on_no_memory();
  const core::ItemTypeSettings& settings = this->settings();
  store::ClaimRequest request{.type = type_,
                              .token = board_.token(),
                              .limit = limit,
                              .early = core::claim_ahead(settings, traits_),
                              .stale = settings.stale_claim_threshold,
                              .retries_max = settings.max_dispatch_retries};
  submit(
      parts_.workers,
      [this, request = std::move(request), now, own]() mutable {
        // Asked here: a claim that waits for a worker finds what others took meanwhile.
        request.bytes = claim_bytes(parts_.memory, own);
        ClaimAnswer answer{.claim = parts_.queue.claim(request, std::nullopt),
                           .limit = request.limit,
                           .asked = now,
                           .charge = runtime::Charge(parts_.memory)};
        answer.charge.force(kContextFactor * bytes_of(answer.claim));
        post(std::move(answer));
      },
      ClaimAnswer{.claim = fail(ErrorKind::overloaded, "too many claims wait"),
                  .limit = limit,
                  .asked = now});
}

void Dispatcher::settle(std::vector<store::Settlement>&& items) {
  auto shared = std::make_shared<std::vector<store::Settlement>>(std::move(items));
  const int retries_max = settings().max_dispatch_retries;
  runtime::TaskQueue::Task task = [this, shared, retries_max, token = board_.token()] {
    const auto moved = parts_.queue.settle(
        {.type = type_, .token = token, .retries_max = retries_max, .items = *shared},
        std::nullopt);
    if (!moved) {
      parts_.log.warn(
          "dispatch.settle_failed",
          {{"item_type", type_.str()}, {"items", shared->size()}, {"error", moved.error().what}});
    }
    post(SettleAnswer{.worked = moved.has_value(), .items = std::move(*shared)});
  };
  ++tasks_;
  if (!parts_.workers.submit(std::move(task))) {
    post(SettleAnswer{.worked = false, .items = std::move(*shared)});
  }
}

void Dispatcher::send_all(Instant& look_again) {
  // Looks at the settings before each one: a kill switch stops the rest of a batch.
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    const Instant now = parts_.steady.now();
    auto sending = board_.take(settings(), now, look_again);
    if (!sending) return;
    send(std::move(*sending), now);
  }
}

void Dispatcher::send(core::DispatchBoard::Sending&& sending, Instant now) {
  ActiveSink* active = sink();
  if (active == nullptr) {
    // Nothing is wrong with the item; somebody has to change the settings first.
    return board_.on_answer(sending.handover.id, sending.batch_id, sending.handover.retry_count,
                            {.outcome = sink::SinkOutcome::slow_down,
                             .detail = "its sink could not be made",
                             .pause = kNoSinkPause},
                            settings(), now);
  }
  ++active->under_way;
  ItemId id = sending.handover.id;
  const int retry_count = sending.handover.retry_count;
  const Instant scheduled = sending.handover.scheduled;
  if (settings().max_per_second) {
    sending.handover.patience = core::kTurnMax - (parts_.steady.now() - sending.taken);
  }
  active->sink->send(std::move(sending.handover),
                     [this, id = std::move(id), batch_id = std::move(sending.batch_id), retry_count,
                      scheduled, taken = sending.taken, active](sink::SinkAnswer answer) mutable {
                       post(SinkReport{.id = std::move(id),
                                       .batch_id = std::move(batch_id),
                                       .retry_count = retry_count,
                                       .scheduled = scheduled,
                                       .taken = taken,
                                       .answer = std::move(answer),
                                       .from = active});
                     });
}

const core::ItemTypeSettings& Dispatcher::settings() {
  if (const std::uint64_t stamp = parts_.types.stamp(); !record_ || stamp != stamp_) {
    stamp_ = stamp;
    record_ = parts_.types.find(type_);
    traits_ = traits();
    board_.set_sink(traits_);
  }
  return record_->settings;
}

// With a sink that this node cannot make, one item at a time finds that out.
core::SinkTraits Dispatcher::traits() const {
  if (!parts_.judge_sink) return {};
  return parts_.judge_sink(record_->settings.sink).value_or(core::SinkTraits{.concurrency = 1});
}

Dispatcher::ActiveSink* Dispatcher::sink() {
  const core::SinkSettings& wanted = settings().sink;
  if (!sinks_.empty() && sinks_.back()->settings == wanted) return sinks_.back().get();
  if (refused_sink_ == wanted) return nullptr;
  Result<std::unique_ptr<sink::Sink>> made = parts_.make_sink(type_, wanted);
  if (!made) {
    parts_.log.error("dispatch.no_sink",
                     {{"item_type", type_.str()}, {"error", made.error().what}});
    refused_sink_ = wanted;
    return nullptr;
  }
  refused_sink_.reset();
  sinks_.push_back(std::make_unique<ActiveSink>(std::move(*made), wanted));
  return sinks_.back().get();
}

void Dispatcher::forget_idle_sinks() {
  if (sinks_.size() < 2) return;
  const auto in_use = sinks_.end() - 1;
  sinks_.erase(
      std::remove_if(sinks_.begin(), in_use, [](const auto& each) { return each->under_way == 0; }),
      in_use);
}

void Dispatcher::count_pace(Instant now) {
  if (now - rate_since_ < kRateSpan) return;
  const double rate =
      static_cast<double>(rate_count_) / std::chrono::duration<double>(now - rate_since_).count();
  rate_since_ = now;
  rate_count_ = 0;
  recent_rate_.store(rate, std::memory_order_relaxed);
  const auto& pace = settings().max_per_second;
  metrics_.pace_used.set(pace ? rate / static_cast<double>(*pace) : 0);
}

}  // namespace penstock::service
