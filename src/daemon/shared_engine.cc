#include "daemon/shared_engine.h"
#include "runtime/system_clock.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace penstock::daemon {
namespace {

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

}  // namespace penstock::daemon
