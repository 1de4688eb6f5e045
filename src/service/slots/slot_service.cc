#include "service/slots/slot_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/rng.h"

namespace penstock::service {
namespace {

constexpr std::string_view kSlotRequests = "slot requests";  // too many of them may wait
constexpr std::size_t kPreviewPage = 20'000;      // windows in one read of a preview: some 10 ms
constexpr std::size_t kPreviewPagesMax = 10;      // five hours of 100 ms windows, all in use
constexpr std::size_t kConfigHistoryMax = 1'000;  // versions of one config shown
constexpr Seconds kExpireInterval{2};             // the contract allows ten
constexpr std::size_t kExpireStep = 500;          // slots in one step of the store: some 10 ms

std::unexpected<Error> unknown_config(const ConfigName& name) {
  return fail(ErrorKind::not_found, "there is no slot config named " + name.str());
}

}  // namespace

SlotService::Instruments::Instruments(runtime::Metrics& metrics)
    : duration(metrics.histogram("rate_limiter_slot_assignment_duration_seconds",
                                 "Time from a slot request to its durable answer",
                                 runtime::latency_bounds())),
      depth(metrics.histogram("rate_limiter_window_lookahead_depth",
                              "Windows passed over before one with room was found",
                              {0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 10'000, 100'000})),
      delay(metrics.histogram("penstock_slots_delay_seconds",
                              "Time from the instant asked for to the slot that was given",
                              {0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3'600, 14'400, 86'400})),
      contention(metrics.counter("rate_limiter_window_contention_total",
                                 "Windows passed over because another writer held them")),
      failures(metrics.counter("rate_limiter_slot_assignment_failures_total",
                               "Slot requests that found no window with room")),
      expired(metrics.counter("penstock_slots_expired_total",
                              "Slots that were not confirmed in time and gave their place back")),
      batch_size(metrics.histogram("penstock_slots_batch_size",
                                   "Events decided together in one durable write",
                                   {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1'024, 4'096, 10'000})) {
}

SlotService::SlotService(SlotServiceOptions options, store::SlotStore& slots,
                         store::SlotConfigStore& configs, const Clock& clock, Log& log,
                         runtime::Metrics& metrics, std::uint64_t seed, store::ChangeFeed* changes,
                         store::SlotLife* life)
    : options_(std::move(options)),
      slots_(slots),
      configs_(configs),
      log_(log),
      instruments_(metrics),
      cache_(configs, clock, log, metrics),
      changes_(changes),
      life_(life),
      seed_(seed),
      readers_("slot", kSlotRequests),
      batcher_({.name = "slot-write",
                .workers = options_.writers,
                .join_min = options_.join_min,
                .queue_max = options_.queue_max,
                .batch_max = options_.batch_max},
               [this](std::span<store::SlotRequest> requests) { return execute(requests); }) {
  metrics.gauge_function("penstock_slots_waiting", "Slot requests waiting for a batch",
                         [this] { return static_cast<double>(batcher_.waiting()); });
  if (changes_ != nullptr) {
    changes_->subscribe([this](const std::optional<ConfigName>& changed) {
      changed ? cache_.forget(*changed) : cache_.flush();
    });
  }
  if (life_ != nullptr) {
    reconciler_ = std::make_unique<runtime::Ticker>(
        "slot-expire", kExpireInterval, [this](const auto& should_stop) { expire(should_stop); });
  }
}

void SlotService::stop() {
  if (changes_ != nullptr) changes_->subscribe(nullptr);
  if (reconciler_) reconciler_->stop();
  batcher_.stop();
  readers_.stop();
}

ConfigName SlotService::or_default(ConfigName name) const {
  if (name.empty()) return options_.default_config;
  return name;
}

void SlotService::assign(std::vector<core::SlotCall> calls, std::string request_id,
                         Done<Assigned> done) {
  if (calls.empty()) return done({});
  std::vector<store::SlotRequest> requests;
  std::vector<EventId> events;
  requests.reserve(calls.size());
  events.reserve(calls.size());
  for (core::SlotCall& call : calls) {
    events.push_back(call.event);
    requests.push_back({.event = std::move(call.event),
                        .config_name = or_default(std::move(call.config_name)),
                        .requested = call.requested,
                        .max_delay = call.max_delay.value_or(options_.max_delay),
                        .entropy = mix64(seed_ + drawn_.fetch_add(1, std::memory_order_relaxed)),
                        .ttl = call.ttl});
  }
  const std::size_t count = events.size();
  decltype(batcher_)::Done answer =
      [this, done = std::move(done), events = std::move(events), request_id = std::move(request_id),
       watch = runtime::Stopwatch()](std::vector<Answer> answers) mutable {
        done(finish(std::move(answers), events, request_id, watch));
      };
  if (!batcher_.submit(std::move(requests), std::move(answer))) {
    // NOLINTNEXTLINE(bugprone-use-after-move): a refused submit has taken nothing.
    answer(std::vector<Answer>(count, std::unexpected(too_many(kSlotRequests))));
  }
}

std::vector<SlotService::Answer> SlotService::execute(std::span<store::SlotRequest> requests) {
  instruments_.batch_size.observe(static_cast<double>(requests.size()));
  // The store knows the config in force. These look-ups count hits and misses, and leave a store
  // that is away one question instead of two. Most batches name one config.
  const ConfigName* previous = nullptr;
  for (const store::SlotRequest& request : requests) {
    if (previous != nullptr && *previous == request.config_name) continue;
    previous = &request.config_name;
    if (const auto config = cache_.find(*previous); !config) {
      return std::vector<Answer>(requests.size(), std::unexpected(config.error()));
    }
  }
  return slots_.assign(requests, std::nullopt);
}

core::Slot SlotService::accept(store::Assignment&& assignment, const std::string& request_id) {
  const core::Slot& slot = assignment.slot;
  if (assignment.fresh) {
    instruments_.depth.observe(static_cast<double>(assignment.depth));
    instruments_.delay.observe(std::chrono::duration<double>(slot.delay()).count());
  }
  if (log_.enabled(LogLevel::debug)) {
    log_.debug(assignment.fresh ? "slots.assigned" : "slots.idempotent_hit",
               {{"request_id", request_id},
                {"event_id", slot.event.str()},
                {"window", slot.window_start},
                {"scheduled", slot.scheduled}});
  }
  return std::move(assignment.slot);
}

SlotService::Assigned SlotService::finish(std::vector<Answer> answers,
                                          const std::vector<EventId>& events,
                                          const std::string& request_id,
                                          const runtime::Stopwatch& watch) {
  Assigned results;
  results.reserve(answers.size());
  std::size_t exhausted = 0;
  std::size_t first_exhausted = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) {
      results.push_back(accept(std::move(*answers[i]), request_id));
      continue;
    }
    if (answers[i].error().kind == ErrorKind::exhausted && exhausted++ == 0) first_exhausted = i;
    results.push_back(std::unexpected(std::move(answers[i].error())));
  }
  instruments_.duration.observe(watch.seconds(), answers.size());
  if (exhausted > 0) {
    // Once per call, or a full timeline would drown the log.
    instruments_.failures.add(exhausted);
    log_.warn("slots.exhausted", {{"request_id", request_id},
                                  {"events", exhausted},
                                  {"first_event_id", events[first_exhausted].str()}});
  }
  return results;
}

void SlotService::find(EventId event, Done<Result<std::optional<core::Slot>>> done) {
  readers_.read(std::move(done),
                [this, event = std::move(event)]() -> Result<std::optional<core::Slot>> {
                  const EventId both[] = {event, core::item_event(event.str())};
                  auto found = PENSTOCK_TRY(slots_.find(both));
                  return std::move(found.front() ? found.front() : found.back());
                });
}

Result<std::shared_ptr<const core::SlotConfig>> SlotService::active(const ConfigName& name) {
  auto config = cache_.find(name);
  if (config && *config == nullptr) return unknown_config(name);
  return config;
}

void SlotService::windows(ConfigName name, Instant from, Instant to, std::size_t limit,
                          Done<Result<Windows>> done) {
  readers_.read<ReadCost::heavy>(
      std::move(done),
      [this, name = or_default(std::move(name)), from, to, limit]() -> Result<Windows> {
        auto config = PENSTOCK_TRY(active(name));
        // One more than asked tells whether there is more.
        auto used = PENSTOCK_TRY(slots_.windows({.pool = config->pool,
                                                 .window_size = config->window_size,
                                                 .from = from,
                                                 .to = to,
                                                 .limit = limit + 1}));
        const bool truncated = used.size() > limit;
        if (truncated) used.resize(limit);
        return Windows{*config, std::move(used), truncated};
      });
}

void SlotService::preview(BurstAsked burst, Done<Result<core::Burst>> done) {
  readers_.read<ReadCost::heavy>(
      std::move(done), [this, burst = std::move(burst)]() -> Result<core::Burst> {
        auto config = PENSTOCK_TRY(active(or_default(burst.config)));
        const Millis size = config->window_size;
        core::BurstPlan plan({.requested = burst.requested,
                              .max_delay = options_.max_delay,
                              .max_per_window = config->max_per_window,
                              .window_size = size,
                              .count = burst.count});
        Instant from = core::window_start(core::window_of(burst.requested, size), size);
        for (std::size_t page = 0; page < kPreviewPagesMax; ++page) {
          auto used =
              PENSTOCK_TRY(slots_.windows({.pool = config->pool,
                                           .window_size = size,
                                           .from = from,
                                           .to = burst.requested + options_.max_delay + Millis{1},
                                           .limit = kPreviewPage}));
          for (const core::WindowUse& window : used) plan.add(window);
          if (used.size() < kPreviewPage || plan.is_complete()) return plan.finish();
          from = used.back().start + size;
        }
        return invalid_field("count",
                             fmt::format("a preview looks through at most {} windows in use, "
                                         "and so many events need more: ask for fewer, or for "
                                         "a later requestedTime",
                                         kPreviewPage * kPreviewPagesMax));
      });
}

void SlotService::get_config(ConfigName name, Done<Result<core::SlotConfig>> done) {
  readers_.read(std::move(done),
                [this, name = or_default(std::move(name))]() -> Result<core::SlotConfig> {
                  auto config = PENSTOCK_TRY(active(name));
                  return *config;
                });
}

Result<core::SlotConfig> SlotService::put_now(const core::SlotConfigDraft& draft,
                                              std::string_view request_id) {
  store::SlotConfigChange change = PENSTOCK_TRY(configs_.put(draft, std::nullopt));
  cache_.remember(change.current);
  const core::SlotConfig& now = change.current;
  const auto& before = change.previous;
  log_.info("slots.config_changed", {{"request_id", request_id},
                                     {"config", now.name.str()},
                                     {"version", now.version},
                                     {"max_per_window_old", before ? before->max_per_window : 0},
                                     {"max_per_window_new", now.max_per_window},
                                     {"window_ms_old", before ? before->window_size.count() : 0},
                                     {"window_ms_new", now.window_size.count()}});
  return std::move(change.current);
}

void SlotService::put_config(core::SlotConfigDraft draft, std::string request_id,
                             Done<Result<core::SlotConfig>> done) {
  readers_.read(std::move(done),
                [this, draft = std::move(draft), request_id = std::move(request_id)] {
                  return put_now(draft, request_id);
                });
}

void SlotService::patch_config(ConfigName name, ConfigMerge change, std::string request_id,
                               Done<Result<core::SlotConfig>> done) {
  readers_.read(std::move(done),
                [this, name = or_default(std::move(name)), change = std::move(change),
                 request_id = std::move(request_id)]() mutable -> Result<core::SlotConfig> {
                  // From the store: what this node remembers may be a second old.
                  const std::optional<core::SlotConfig> in_force =
                      PENSTOCK_TRY(configs_.find(name));
                  if (!in_force) return unknown_config(name);
                  const core::SlotConfigDraft draft = PENSTOCK_TRY(change(*in_force));
                  return put_now(draft, request_id);
                });
}

void SlotService::confirm(EventId event, std::string request_id, Done<Result<core::Slot>> done) {
  change(&store::SlotLife::confirm, "slots.confirmed", std::move(event), std::move(request_id),
         std::move(done));
}

void SlotService::release(EventId event, std::string request_id, Done<Result<core::Slot>> done) {
  change(&store::SlotLife::release, "slots.released", std::move(event), std::move(request_id),
         std::move(done));
}

void SlotService::change(Change how, std::string_view what, EventId event, std::string request_id,
                         Done<Result<core::Slot>> done) {
  readers_.read(std::move(done),
                [this, how, what, event = std::move(event),
                 request_id = std::move(request_id)]() -> Result<core::Slot> {
                  if (life_ == nullptr) {
                    return fail(ErrorKind::unavailable, "this store cannot change slots");
                  }
                  Result<core::Slot> slot = (life_->*how)(event, std::nullopt);
                  if (!slot && slot.error().kind == ErrorKind::not_found) {
                    return std::unexpected(no_public_slot(event, std::move(slot.error())));
                  }
                  if (slot && log_.enabled(LogLevel::debug)) {
                    log_.debug(what, {{"request_id", request_id},
                                      {"event_id", event.str()},
                                      {"window", slot->window_start}});
                  }
                  return slot;
                });
}

// Only dispatch changes the slot of an item: the item waits for the time that the slot holds.
Error SlotService::no_public_slot(const EventId& event, Error not_found) {
  const EventId items = core::item_event(event.str());
  const auto found = slots_.find({&items, 1});
  if (!found) return found.error();
  if (!found->front()) return not_found;
  return {
      .kind = ErrorKind::conflict,
      .what = "this slot belongs to the item " + event.str() + "; cancel the item to give it back"};
}

void SlotService::expire(const std::function<bool()>& should_stop) {
  while (!should_stop()) {
    const Result<std::size_t> expired = life_->expire(kExpireStep, std::nullopt);
    if (!expired) return log_.warn("slots.expire_failed", {{"error", expired.error().what}});
    instruments_.expired.add(*expired);
    if (*expired > 0) log_.info("slots.expired", {{"slots", *expired}});
    if (*expired < kExpireStep) return;
  }
}

void SlotService::list_configs(ConfigName after, std::size_t limit,
                               Done<Result<std::vector<core::SlotConfig>>> done) {
  readers_.read(std::move(done),
                [this, after = std::move(after), limit] { return configs_.list(after, limit); });
}

void SlotService::config_history(ConfigName name,
                                 Done<Result<std::vector<core::SlotConfig>>> done) {
  using History = std::vector<core::SlotConfig>;
  readers_.read(std::move(done), [this, name = or_default(std::move(name))]() -> Result<History> {
    auto versions = configs_.history(name, kConfigHistoryMax);
    if (versions && versions->empty()) {
      return fail(ErrorKind::not_found, "there is no slot config named " + name.str());
    }
    return versions;
  });
}

void SlotService::flush_config_cache(std::string request_id, Done<Result<void>> done) {
  readers_.read(std::move(done), [this, request_id = std::move(request_id)]() -> Result<void> {
    cache_.flush();
    if (changes_ != nullptr) {
      if (Result<void> told = changes_->flush_everywhere(); !told) return told;
    }
    log_.info("slots.config_cache_flushed", {{"request_id", request_id}});
    return {};
  });
}

}  // namespace penstock::service
