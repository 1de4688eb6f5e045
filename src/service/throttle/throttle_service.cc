#include "service/throttle/throttle_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "runtime/clocks.h"
#include "runtime/threads.h"

namespace penstock::service {
namespace {

constexpr std::size_t kAdminCallsMax = 4'096;  // waiting admin calls: under a second of work
constexpr double kLossShownSeconds = 60;       // so that a probe that asks now and then sees it

}  // namespace

Result<std::unique_ptr<ThrottleService>> ThrottleService::start(
    ThrottleOptions options, store::LimitStore& limits, store::PolicyStore& policies, Log& log,
    runtime::Metrics& metrics, std::optional<SharedLimits> shared) {
  std::unique_ptr<ThrottleService> service(
      new ThrottleService(std::move(options), limits, policies, log, metrics, shared));
  if (Result<bool> loaded = service->cache_.refresh(); !loaded) {
    return std::unexpected(std::move(loaded.error()));
  }
  service->refresher_ = std::thread([raw = service.get()] { raw->keep_fresh(); });
  return service;
}

ThrottleService::ThrottleService(ThrottleOptions options, store::LimitStore& limits,
                                 store::PolicyStore& policies, Log& log, runtime::Metrics& metrics,
                                 std::optional<SharedLimits> shared)
    : options_(std::move(options)),
      limits_(limits),
      policies_(policies),
      log_(log),
      metrics_(metrics, options_.tokens_remaining),
      cache_(policies, options_.default_policy),
      shared_(shared),
      tasks_({.name = "throttle-admin", .threads = 1, .queue_max = kAdminCallsMax}) {}

void ThrottleService::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (refresher_.joinable()) refresher_.join();
  tasks_.stop();
}

void ThrottleService::keep_fresh() {
  runtime::set_thread_name("throttle-fresh");
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, PolicyCache::kRefreshInterval, [this] { return stopping_; })) {
    lock.unlock();
    const Result<void> fresh = refresh_policies();
    if (!fresh && !stale_) {
      log_.warn("throttle.policies_stale", {{"error", fresh.error().what}});
    } else if (fresh && stale_) {
      log_.info("throttle.policies_fresh_again");
    }
    stale_ = !fresh;
    lock.lock();
  }
}

Result<void> ThrottleService::refresh_policies() {
  const std::lock_guard lock(policies_mutex_);
  return refresh_held();
}

Result<void> ThrottleService::refresh_held() {
  PolicyCache::Loss loss;
  const Result<bool> changed = cache_.refresh(&loss);
  note_loss(loss, changed);
  if (!changed) return std::unexpected(changed.error());
  if (*changed) log_.debug("throttle.policies_loaded", {{"policies", cache_.current().size()}});
  return {};
}

void ThrottleService::note_loss(const PolicyCache::Loss& loss, const Result<bool>& refreshed) {
  metrics_.policies_restored(loss.restored);
  const std::lock_guard lock(loss_mutex_);
  const bool known = missing_ > 0;
  if (loss.missing > 0 && !known) {
    log_.warn("throttle.store_emptied", {{"policies_missing", loss.missing},
                                         {"policies_restored", loss.restored},
                                         {"error", refreshed ? "" : refreshed.error().what}});
  }
  if (loss.missing > 0) missing_ = loss.missing;
  // A store that is away says nothing about its content.
  if (missing_ > 0 && refreshed) {
    if (known) log_.warn("throttle.policies_restored", {{"policies", missing_}});
    restored_ = std::exchange(missing_, 0);
    restore_.emplace();
  }
  metrics_.policies_missing(missing_);
}

std::string ThrottleService::policies_warning() const {
  const std::lock_guard lock(loss_mutex_);
  if (missing_ > 0) {
    return fmt::format(
        "the store has lost {} policies that this node knows; they stay in force, and are written "
        "back when it takes them",
        missing_);
  }
  if (restore_ && restore_->seconds() < kLossShownSeconds) {
    return fmt::format("the store had lost {} policies, which were written back; usage is lost",
                       restored_);
  }
  return {};
}

Result<void> ThrottleService::check(const core::ThrottleCall& call,
                                    core::ThrottleDecision& decision) {
  PENSTOCK_CHECK(call.key_count > 0);
  PENSTOCK_CHECK(!shared_);
  if (call.key_count == 1) {
    std::array<store::LimitCheck, 1> check;
    return decide(call, check, decision);
  }
  std::array<store::LimitCheck, core::kThrottleKeysMax> checks;
  return decide(call, std::span(checks).first(call.key_count), decision);
}

Result<void> ThrottleService::decide(const core::ThrottleCall& call,
                                     std::span<store::LimitCheck> checks,
                                     core::ThrottleDecision& decision) {
  const runtime::Stopwatch watch;
  plan(cache_.current(), call, checks, decision);
  const store::LimitRequest request{.checks = checks,
                                    .cost = call.cost,
                                    .statuses = std::span(decision.statuses).first(checks.size())};
  Result<store::LimitAnswer> answer;
  limits_.apply({&request, 1}, std::nullopt, {&answer, 1});
  Result<void> settled = settle(call.cost, answer, decision);
  metrics_.took(watch.millis());
  return settled;
}

void ThrottleService::plan(const core::PolicySet& policies, const core::ThrottleCall& call,
                           std::span<store::LimitCheck> checks, core::ThrottleDecision& decision) {
  decision.count = call.key_count;
  decision.unchecked = false;
  for (std::size_t i = 0; i < call.key_count; ++i) {
    const core::Policy& policy = policies.match(call.keys[i]);
    decision.keys[i] = call.keys[i];
    decision.policies[i] = &policy;
    checks[i] = {.key = call.keys[i], .limit = policy.draft.limit, .shadow = policy.draft.shadow};
  }
}

Result<void> ThrottleService::settle(std::int64_t cost, const Result<store::LimitAnswer>& answer,
                                     core::ThrottleDecision& decision) {
  if (!answer) return fall_back(cost, answer.error(), decision);
  PENSTOCK_CHECK(answer->bound < decision.count);
  decision.allowed = answer->admitted;
  decision.bound = answer->bound;
  count(cost, decision);
  return {};
}

void ThrottleService::count(std::int64_t cost, const core::ThrottleDecision& decision) {
  bool shadow_denied = false;
  for (std::size_t i = 0; i < decision.count; ++i) {
    shadow_denied |= decision.policies[i]->draft.shadow && !decision.statuses[i].admitted;
    metrics_.remaining(*decision.policies[i], decision.statuses[i].remaining);
  }
  // Looking and giving back are neither let through nor denied.
  if (cost <= 0) return;
  metrics_.count(decision.allowed, shadow_denied);
  if (!decision.allowed) denied_.add(decision.keys[decision.bound]);
}

std::vector<Result<core::KeyDecision>> ThrottleService::check_batch(
    std::span<const ThrottleEntry> entries) {
  PENSTOCK_CHECK(!shared_ || entries.empty());
  const runtime::Stopwatch watch;
  const core::PolicySet& policies = cache_.current();
  std::vector<store::LimitCheck> checks(entries.size());
  std::vector<core::LimitStatus> statuses(entries.size());
  std::vector<const core::Policy*> matched(entries.size());
  std::vector<store::LimitRequest> requests(entries.size());
  std::vector<Result<store::LimitAnswer>> answers(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const core::Policy& policy = policies.match(entries[i].key);
    matched[i] = &policy;
    checks[i] = {.key = entries[i].key, .limit = policy.draft.limit, .shadow = policy.draft.shadow};
    requests[i] = {
        .checks = {&checks[i], 1}, .cost = entries[i].cost, .statuses = {&statuses[i], 1}};
  }
  if (!requests.empty()) limits_.apply(requests, std::nullopt, answers);
  std::vector<Result<core::KeyDecision>> decisions;
  decisions.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    decisions.push_back(settle_entry(entries[i], *matched[i], statuses[i], answers[i]));
  }
  if (!entries.empty()) metrics_.took(watch.millis(), entries.size());
  return decisions;
}

Result<core::KeyDecision> ThrottleService::settle_entry(const ThrottleEntry& entry,
                                                        const core::Policy& policy,
                                                        const core::LimitStatus& status,
                                                        const Result<store::LimitAnswer>& answer) {
  if (!answer) {
    core::ThrottleDecision decision;
    decision.count = 1;
    decision.keys[0] = entry.key;
    decision.policies[0] = &policy;
    PENSTOCK_TRY(fall_back(entry.cost, answer.error(), decision));
    return core::KeyDecision{.allowed = decision.allowed,
                             .key = entry.key,
                             .policy = &policy,
                             .status = decision.status()};
  }
  metrics_.remaining(policy, status.remaining);
  if (entry.cost > 0) {
    metrics_.count(answer->admitted, policy.draft.shadow && !status.admitted);
    if (!answer->admitted) denied_.add(entry.key);
  }
  return core::KeyDecision{
      .allowed = answer->admitted, .key = entry.key, .policy = &policy, .status = status};
}

void ThrottleService::ask_client_limits(std::span<const store::LimitRequest> requests,
                                        std::span<Result<store::LimitAnswer>> answers) {
  const runtime::Stopwatch watch;
  if (shared_) {
    wait_for_engine(requests, answers);
  } else {
    limits_.apply(requests, std::nullopt, answers);
  }
  ThrottleMetrics::ClientTotals told;
  std::uint64_t allowed = 0;
  std::uint64_t blocked = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!answers[i]) {
      ++told.errors;
      continue;
    }
    const bool admitted = answers[i]->admitted;
    ++(admitted ? told.allowed : told.limited);
    // Looking and giving back are neither let through nor denied.
    if (requests[i].cost <= 0) continue;
    ++(admitted ? allowed : blocked);
    if (!admitted) denied_.add(requests[i].checks[0].key);
  }
  metrics_.count_clients(told, allowed, blocked);
  metrics_.took(watch.millis(), requests.size());
}

core::ThrottleTotals ThrottleService::totals() const {
  core::ThrottleTotals totals = metrics_.totals();
  totals.policies = cache_.current().size();
  return totals;
}

}  // namespace penstock::service
