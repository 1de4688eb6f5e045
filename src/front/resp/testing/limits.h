// For tests: the decisions of core/limits on a plain map, at the time of a simulated clock, and the
// service on them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/limits/decide.h"
#include "service/testing/throttle_stores.h"
#include "service/throttle/throttle_service.h"
#include "store/limits/ports.h"

namespace penstock::front {

class CoreLimits final : public store::LimitStore {
 public:
  SimulatedClock clock{from_epoch_millis(1'700'000'000'000)};
  bool away = false;
  std::string away_because = "the store is away";
  std::vector<std::size_t> batches;  // sizes

  void apply(std::span<const store::LimitRequest> requests, std::optional<Instant> now,
             std::span<Result<store::LimitAnswer>> answers) override {
    const std::lock_guard lock(mutex_);
    batches.push_back(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (away) {
        answers[i] = fail(ErrorKind::unavailable, away_because);
        continue;
      }
      const store::LimitCheck& check = requests[i].checks[0];
      requests[i].statuses[0] = core::charge(check.limit, states_[std::string(check.key)],
                                             requests[i].cost, now.value_or(clock.now()));
      answers[i] = store::LimitAnswer{.admitted = requests[i].statuses[0].admitted};
    }
  }

  Result<bool> reset(std::string_view key) override {
    const std::lock_guard lock(mutex_);
    if (away) return fail(ErrorKind::unavailable, away_because);
    return states_.erase(std::string(key)) > 0;
  }
  Result<std::optional<store::KeyUse>> find(std::string_view key,
                                            std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(std::string(key));
    if (found == states_.end()) return std::nullopt;
    return store::KeyUse{.key = found->first,
                         .limit = {},
                         .used = core::used(found->second, now.value_or(clock.now()))};
  }
  Result<std::vector<store::KeyUse>> list(std::string_view, std::size_t,
                                          std::optional<Instant>) override {
    return std::vector<store::KeyUse>{};
  }

 private:
  std::mutex mutex_;
  std::map<std::string, core::LimitState> states_;
};

// The service as compose makes it for limits of one node. Both must outlive it.
class CoreThrottle {
 public:
  CoreThrottle(CoreLimits& limits, Log& log, runtime::Metrics& metrics)
      : service_(std::move(*service::ThrottleService::start({}, limits, policies_, log, metrics))) {
  }
  service::ThrottleService& operator*() const noexcept { return *service_; }
  service::ThrottleService* operator->() const noexcept { return service_.get(); }

 private:
  service::FakePolicies policies_;
  std::unique_ptr<service::ThrottleService> service_;
};

}  // namespace penstock::front
