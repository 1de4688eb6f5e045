#include "service/dispatch/dispatchers.h"

#include <utility>
#include <vector>

namespace penstock::service {
namespace {

constexpr std::size_t kRenewalThreads = 2;
// Each type has at most a claim, two settles and a renewal on their way.
constexpr std::size_t kTasksMax = 4 * kItemTypesMax;
constexpr Seconds kDepthInterval{2};
constexpr std::size_t kForgetItems = 1'000;  // in one step: some 20 ms

}  // namespace

Dispatchers::Dispatchers(DispatchersOptions options, const DispatchPorts& ports, ItemTypes& types,
                         Log& log, runtime::Metrics& metrics)
    : options_(std::move(options)),
      ports_(ports),
      types_(types),
      log_(log),
      metrics_(metrics),
      forgotten_(metrics.counter("penstock_dispatch_forgotten_total",
                                 "Settled items that retention took out of the store")),
      workers_({.name = "dispatch-store", .threads = options_.workers, .queue_max = kTasksMax}),
      renewals_({.name = "dispatch-lease", .threads = kRenewalThreads, .queue_max = kTasksMax}),
      parts_{.node = options_.node,
             .queue = ports_.queue,
             .leases = ports_.leases,
             .types = types_,
             .make_sink = ports_.make_sink,
             .judge_sink = ports_.judge_sink,
             .wall = ports_.wall,
             .steady = ports_.steady,
             .log = log_,
             .metrics = metrics_,
             .workers = workers_,
             .renewals = renewals_,
             .memory = ports_.memory},
      rng_(options_.seed),
      refresh_ticker_("dispatch-types", ItemTypes::kRefreshInterval,
                      [this](const auto&) { refresh(); }),
      depth_ticker_("dispatch-depth", kDepthInterval, [this](const auto&) { look_at_depths(); }),
      retention_ticker_("dispatch-prune", options_.retention_interval,
                        [this](const auto& should_stop) { forget_old(should_stop); }) {
  follow_types();
  if (ports_.feed != nullptr) {
    ports_.feed->subscribe([this](const std::optional<ItemType>& type) { wake(type); });
  }
  if (ports_.news != nullptr) {
    ports_.news->subscribe([this](const ItemType& type) { wake(type); });
  }
}

void Dispatchers::stop() {
  if (ports_.feed != nullptr) ports_.feed->subscribe(nullptr);
  // Before dispatchers are waited for: what they have under way may tell news.
  if (ports_.news != nullptr) ports_.news->subscribe(nullptr);
  refresh_ticker_.stop();
  depth_ticker_.stop();
  retention_ticker_.stop();
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (auto& [type, entry] : entries_) entry.dispatcher->stop();  // all at once
    for (auto& [type, entry] : entries_) entry.dispatcher.reset();
    entries_.clear();
  }
  workers_.stop();
  renewals_.stop();
}

void Dispatchers::refresh() {
  const std::uint64_t before = types_.stamp();
  const Result<void> refreshed = types_.refresh();
  if (!refreshed) {
    if (!refresh_failed_.exchange(true)) {
      log_.warn("dispatch.types_not_read", {{"error", refreshed.error().what}});
    }
    return;
  }
  refresh_failed_ = false;
  if (types_.stamp() != before) follow_types();
}

void Dispatchers::follow_types() {
  const std::vector<ItemTypes::Record> records = types_.list();
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  for (const ItemTypes::Record& record : records) {
    const auto known = entries_.find(record->type);
    known == entries_.end() ? add(record->type) : known->second.dispatcher->wake();
  }
}

void Dispatchers::add(const ItemType& type) {
  Entry& entry = entries_[type];
  for (std::size_t i = 0; i < core::kItemStates; ++i) {
    const std::string_view status = core::item_state_name(static_cast<core::ItemState>(i));
    entry.depths[i] = &metrics_.gauge("dispatch_queue_depth", "Items by state, some seconds ago",
                                      {{"item_type", type.str()}, {"status", std::string(status)}});
  }
  entry.dispatcher = std::make_unique<Dispatcher>(parts_, type, rng_());
}

void Dispatchers::wake(const std::optional<ItemType>& type) {
  const std::lock_guard lock(mutex_);
  if (!type) {
    for (auto& [name, entry] : entries_) entry.dispatcher->wake();
  } else if (const auto found = entries_.find(*type); found != entries_.end()) {
    found->second.dispatcher->wake();
  }
}

double Dispatchers::recent_rate(const ItemType& type) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(type);
  return found == entries_.end() ? 0 : found->second.dispatcher->recent_rate();
}

void Dispatchers::look_at_depths() {
  for (const ItemTypes::Record& record : types_.list()) {
    const Result<store::QueueSummary> summary = ports_.queue.summary(record->type);
    if (!summary) return;  // the dispatchers say that the store is away
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(record->type);
    if (entry == entries_.end()) continue;
    for (std::size_t i = 0; i < core::kItemStates; ++i) {
      entry->second.depths[i]->set(static_cast<double>(summary->counts[i]));
    }
  }
}

void Dispatchers::forget_old(const std::function<bool()>& should_stop) {
  for (const ItemTypes::Record& record : types_.list()) {
    const auto own = options_.id_retention_of.find(record->type);
    const Millis kept = own == options_.id_retention_of.end() ? options_.id_retention : own->second;
    const Result<Instant> before = store::older_than(ports_.retention_clock, ports_.wall, kept);
    for (;;) {
      if (should_stop()) return;
      const Result<std::size_t> gone =
          before ? ports_.queue.forget(record->type, *before, kForgetItems)
                 : std::unexpected(before.error());
      if (!gone) {
        log_.warn("dispatch.forget_failed",
                  {{"item_type", record->type.str()}, {"error", gone.error().what}});
        return;
      }
      forgotten_.add(*gone);
      if (*gone < kForgetItems) break;
    }
  }
}

}  // namespace penstock::service
