#include "daemon/compose/throttle.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "daemon/compose/stores.h"
#include "front/http/routes/routes.h"
#include "runtime/clocks.h"

namespace penstock::daemon {
namespace {

// In one commit: some milliseconds in which slots wait for their turn.
constexpr std::size_t kChunkKeys = 2'000;

// A key that nobody asks for again is looked at once in a hundred intervals, at the default
// maximum.
constexpr std::size_t kLocalSweepKeys = 20'000;

// Keys that this node decides about alone during an outage. Fewer than usual: the rest of the
// memory need not be held ready for it.
constexpr std::size_t kLocalKeysMax = 500'000;

// One sweep looks at this many keys and takes some milliseconds of the engine's time; ten thousand
// a second clean a million keys in less than two minutes.
constexpr std::size_t kSharedSweepKeys = 1'000;
constexpr Millis kSweepInterval{100};

// Two daemons on one machine are two nodes, and so is one that was started again.
std::string node_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"node"};
  return fmt::format("{}-{}-{:08x}", std::string(host.data()).substr(0, 64), getpid(),
                     runtime::random_seed() & 0xffffffff);
}

}  // namespace

LimitSaver::LimitSaver(store::memory::MemoryLimits& limits, store::LimitArchive& archive, Log& log,
                       runtime::Metrics& metrics)
    : limits_(limits),
      archive_(archive),
      log_(log),
      saved_(metrics.counter("penstock_throttle_keys_saved_total",
                             "Changed throttle keys written to the store")) {}

Result<void> LimitSaver::restore() {
  std::uint64_t taken = 0;
  std::vector<store::SavedLimit> gone;
  PENSTOCK_TRY(archive_.load([&](std::string_view key, std::string_view state) -> Result<void> {
    if (PENSTOCK_TRY(limits_.restore(key, state))) {
      ++taken;
    } else {
      gone.push_back({.key = std::string(key), .state = {}});  // says nothing any more
    }
    return {};
  }));
  if (taken > 0) log_.info("throttle.restored", {{"keys", taken}});
  for (std::size_t from = 0; from < gone.size(); from += kChunkKeys) {
    const auto chunk = std::span(gone).subspan(from, std::min(kChunkKeys, gone.size() - from));
    PENSTOCK_TRY(archive_.save(chunk));
  }
  return {};
}

void LimitSaver::start(Millis interval) {
  ticker_.emplace("limit-save", interval, [this](const auto&) { tick(); });
}

void LimitSaver::stop() {
  if (!ticker_) return;
  ticker_->stop();
  ticker_.reset();
  save(store::memory::Collect::all);
}

void LimitSaver::tick() {
  save(store::memory::Collect::in_use);
  limits_.sweep(kLocalSweepKeys);
}

void LimitSaver::save(store::memory::Collect what) {
  std::size_t cursor = 0;
  std::vector<store::SavedLimit> changes;
  for (bool more = true; more;) {
    changes.clear();
    more = limits_.collect_changes(cursor, kChunkKeys, changes, what);
    if (Result<void> saved = archive_.save(changes); !saved) {
      limits_.put_back(changes);
      // Once, not at every interval.
      if (!failing_) log_.warn("throttle.save_failed", {{"error", saved.error().what}});
      failing_ = true;
      return;
    }
    saved_.add(changes.size());
  }
  if (failing_) log_.info("throttle.save_resumed", {});
  failing_ = false;
}

SharedEngine::SharedEngine(const ThrottleConfig& config, const store::Backend& backend, Log& log,
                           runtime::Metrics& metrics)
    : local_({.max_keys = std::min(config.max_keys, kLocalKeysMax)}, clock_),
      watch_({.engine = backend.name, .node = node_name(), .seed = runtime::random_seed()},
             *backend.limits.nodes, log, metrics),
      gate_({.deadline = config.deadline, .workers = config.batches}, *backend.limits.store, watch_,
            metrics),
      sweeper_(backend.limits.sweep),
      swept_(metrics.counter("penstock_throttle_keys_swept_total",
                             "Idle keys that this node cleaned out of the shared engine")) {}

void SharedEngine::start(service::ThrottleService& service) {
  watch_.start([&service] { return service.hand_back(); });
  if (sweeper_ == nullptr) return;
  sweeps_.emplace("throttle-sweep", kSweepInterval,
                  [this](const std::function<bool()>&) { sweep(*sweeper_); });
}

// A failure is the watch's to tell of, and the next turn goes on where this one stopped.
void SharedEngine::sweep(store::LimitSweep& sweeper) {
  if (!watch_.usable()) return;
  const Result<store::LimitSweep::Swept> swept = sweeper.sweep(kSharedSweepKeys, std::nullopt);
  if (swept) swept_.add(swept->dropped);
}

void SharedEngine::stop() {
  if (sweeps_) sweeps_->stop();
  watch_.stop();
  gate_.stop();
}

Result<std::unique_ptr<service::ThrottleService>> compose_throttle(
    const ThrottleConfig& config, store::LimitStore& limits, store::PolicyStore& policies,
    const Clock& clock, Log& log, runtime::Metrics& metrics, std::vector<front::Route>& routes,
    std::optional<service::SharedLimits> shared) {
  auto throttle = PENSTOCK_TRY(service::ThrottleService::start(
      {.default_policy = config.default_policy, .tokens_remaining = config.tokens_remaining},
      limits, policies, log, metrics, shared));
  front::add_throttle_routes(routes, *throttle, clock);
  front::add_filter_routes(routes, *throttle, config.filter, clock);
  return throttle;
}

OwnLimits::OwnLimits(const ThrottleConfig& config, store::LimitArchive& archive, Log& log,
                     runtime::Metrics& metrics)
    : limits_({.max_keys = config.max_keys, .track_changes = true}, clock_),
      saver_(limits_, archive, log, metrics) {
  metrics.gauge_function("penstock_throttle_keys", "Throttle keys held in memory",
                         [this] { return static_cast<double>(limits_.memory_use().keys); });
  metrics.gauge_function("penstock_throttle_bytes", "Memory of the throttle keys", [this] {
    const store::memory::MemoryUse use = limits_.memory_use();
    return static_cast<double>(use.bytes + use.log_bytes);
  });
  metrics.gauge_function("penstock_throttle_keys_evicted",
                         "Throttle keys with usage that made room for others since the start",
                         [this] { return static_cast<double>(limits_.memory_use().evicted); });
}

Result<std::unique_ptr<ThrottlePart>> ThrottlePart::start(const ThrottleConfig& config,
                                                          const store::Backend& backend,
                                                          const Clock& clock, Log& log,
                                                          runtime::Metrics& metrics,
                                                          std::vector<front::Route>& routes) {
  const bool shared = backend.limits.store != nullptr && backend.limits.nodes != nullptr;
  PENSTOCK_TRY(require(backend, "hold throttle policies", {backend.limits.policies}));
  if (!shared) {
    PENSTOCK_TRY(require(backend, "hold throttle policies", {backend.limits.archive}));
  }
  std::unique_ptr<ThrottlePart> part(new ThrottlePart());
  std::optional<service::SharedLimits> parts;
  store::LimitStore* limits = backend.limits.store;
  if (shared) {
    part->engine_ = std::make_unique<SharedEngine>(config, backend, log, metrics);
    parts.emplace(part->engine_->parts());
  } else {
    part->own_ = std::make_unique<OwnLimits>(config, *backend.limits.archive, log, metrics);
    limits = &part->own_->limits();
    PENSTOCK_TRY(part->own_->saver().restore());
  }
  part->service_ = PENSTOCK_TRY(compose_throttle(config, *limits, *backend.limits.policies, clock,
                                                 log, metrics, routes, parts));
  if (part->own_) part->own_->saver().start(config.save_interval);
  if (part->engine_) part->engine_->start(*part->service_);
  return part;
}

void ThrottlePart::stop() {
  if (engine_) engine_->stop();
  if (service_) service_->stop();
  if (own_) own_->saver().stop();
}

}  // namespace penstock::daemon
