#include "daemon/compose_throttle.h"

#include <utility>

#include "front/http/filter_routes.h"
#include "front/http/throttle_admin_routes.h"
#include "front/http/throttle_routes.h"

namespace penstock::daemon {

Result<std::unique_ptr<service::ThrottleService>> compose_throttle(
    const ThrottleConfig& config, store::LimitStore& limits, store::PolicyStore& policies,
    const Clock& clock, Log& log, runtime::Metrics& metrics, std::vector<front::Route>& routes,
    std::optional<service::SharedLimits> shared) {
  auto throttle = service::ThrottleService::start(
      {.default_policy = config.default_policy, .tokens_remaining = config.tokens_remaining},
      limits, policies, log, metrics, shared);
  if (!throttle) return throttle;
  front::add_throttle_routes(routes, **throttle, clock);
  front::add_filter_routes(routes, **throttle, config.filter, clock);
  front::add_policy_routes(routes, **throttle, clock);
  front::add_throttle_admin_routes(routes, **throttle, clock);
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
  if (backend.limits.policies == nullptr || (!shared && backend.limits.archive == nullptr)) {
    return fail(ErrorKind::invalid, "the " + backend.name + " store cannot hold throttle policies");
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
    if (Result<void> restored = part->own_->saver().restore(); !restored) {
      return std::unexpected(restored.error());
    }
  }
  auto service = compose_throttle(config, *limits, *backend.limits.policies, clock, log, metrics,
                                  routes, parts);
  if (!service) return std::unexpected(service.error());
  part->service_ = std::move(*service);
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
