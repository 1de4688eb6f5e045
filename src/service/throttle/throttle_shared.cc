// Throttle on an engine that nodes share: asking it through the gate, and what happens while it
// does not answer.
#include <algorithm>
#include <array>
#include <future>
#include <utility>

#include "core/limits/limit.h"
#include "runtime/clocks.h"
#include "service/throttle/throttle_service.h"

namespace penstock::service {
namespace {

// Keys charged to the engine in one go when it is back, and how long that may hold up its return.
// What is left then is forgotten: it was admitted by this node's share.
constexpr std::size_t kHandBackKeys = 500;
constexpr Millis kHandBackMax = Seconds{5};

core::LimitStatus unchecked_status(const core::Policy& policy) noexcept {
  const std::int64_t capacity = policy.draft.limit.capacity;
  return {.admitted = true, .limit = capacity, .remaining = capacity};
}

// What holds for a policy while the usage cannot be asked. A shadow never denies.
core::OnStoreFailure failure_rule(const core::Policy& policy, bool has_local) noexcept {
  const core::OnStoreFailure rule = policy.draft.on_store_failure;
  if (rule == core::OnStoreFailure::local && has_local) return rule;
  if (policy.draft.shadow) return core::OnStoreFailure::allow;
  return rule == core::OnStoreFailure::allow ? rule : core::OnStoreFailure::deny;
}

}  // namespace

void ThrottleService::submit(const core::ThrottleCall& call, Asked done) {
  std::shared_ptr<const core::PolicySet> policies = cache_.pin();
  std::array<store::LimitCheck, core::kThrottleKeysMax> checks;
  core::ThrottleDecision planned;
  plan(*policies, call, checks, planned);
  const store::LimitRequest request{
      .checks = std::span(checks).first(call.key_count), .cost = call.cost, .statuses = {}};
  const core::PolicySet& set = *policies;
  shared_->gate.submit(
      std::make_shared<GateJob>(std::span(&request, 1), std::move(policies),
                                [this, &set, watch = runtime::Stopwatch(), done = std::move(done)](
                                    std::span<const store::LimitRequest> all,
                                    std::span<Result<store::LimitAnswer>> answers) mutable {
                                  const store::LimitRequest& asked = all[0];
                                  core::ThrottleDecision decision;
                                  decision.count = asked.checks.size();
                                  for (std::size_t i = 0; i < decision.count; ++i) {
                                    decision.keys[i] = asked.checks[i].key;
                                    decision.policies[i] = &set.match(asked.checks[i].key);
                                    if (answers[0]) decision.statuses[i] = asked.statuses[i];
                                  }
                                  Result<void> settled = settle(asked.cost, answers[0], decision);
                                  metrics_.took(watch.millis());
                                  done(std::move(settled), decision);
                                }));
}

void ThrottleService::submit_batch(std::span<const ThrottleEntry> entries, AskedBatch done) {
  std::shared_ptr<const core::PolicySet> policies = cache_.pin();
  std::vector<store::LimitCheck> checks(entries.size());
  std::vector<store::LimitRequest> requests(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const core::PolicyDraft& draft = policies->match(entries[i].key).draft;
    checks[i] = {.key = entries[i].key, .limit = draft.limit, .shadow = draft.shadow};
    requests[i] = {.checks = {&checks[i], 1}, .cost = entries[i].cost, .statuses = {}};
  }
  const core::PolicySet& set = *policies;
  shared_->gate.submit(std::make_shared<GateJob>(
      requests, std::move(policies),
      [this, &set, watch = runtime::Stopwatch(), done = std::move(done)](
          std::span<const store::LimitRequest> all,
          std::span<Result<store::LimitAnswer>> answers) mutable {
        std::vector<Result<core::KeyDecision>> decisions;
        decisions.reserve(answers.size());
        for (std::size_t i = 0; i < answers.size(); ++i) {
          const store::LimitRequest& asked = all[i];
          const std::string_view key = asked.checks[0].key;
          const core::LimitStatus status = answers[i] ? asked.statuses[0] : core::LimitStatus{};
          decisions.push_back(
              settle_entry({.key = key, .cost = asked.cost}, set.match(key), status, answers[i]));
        }
        metrics_.took(watch.millis(), answers.size());
        done(decisions);
      }));
}

// On the caller's thread, for callers that may wait. No policy says what holds while the engine is
// away, so the answer is an error then.
void ThrottleService::wait_for_engine(std::span<const store::LimitRequest> requests,
                                      std::span<Result<store::LimitAnswer>> answers) {
  std::promise<void> answered;
  shared_->gate.submit(std::make_shared<GateJob>(
      requests, nullptr,
      [&](std::span<const store::LimitRequest> asked, std::span<Result<store::LimitAnswer>> given) {
        for (std::size_t i = 0; i < given.size(); ++i) {
          if (given[i]) std::ranges::copy(asked[i].statuses, requests[i].statuses.begin());
          answers[i] = std::move(given[i]);
        }
        answered.set_value();
      }));
  answered.get_future().wait();
}

Result<void> ThrottleService::fall_back(std::int64_t cost, const Error& error,
                                        core::ThrottleDecision& decision) {
  metrics_.store_failed();
  if (!error.retryable()) return std::unexpected(error);
  bool asks_local = false;
  for (std::size_t i = 0; i < decision.count; ++i) {
    const core::Policy& policy = *decision.policies[i];
    const core::OnStoreFailure rule = failure_rule(policy, shared_.has_value());
    if (rule == core::OnStoreFailure::deny) return std::unexpected(error);
    asks_local |= rule == core::OnStoreFailure::local;
    decision.statuses[i] = unchecked_status(policy);
  }
  decision.allowed = true;
  decision.unchecked = !asks_local;
  decision.bound = 0;
  if (asks_local) {
    decide_locally(cost, decision);
    count(cost, decision);
  }
  return {};
}

// The limits that say `local` decide, all or none; the others let the request pass.
void ThrottleService::decide_locally(std::int64_t cost, core::ThrottleDecision& decision) {
  const std::size_t nodes = shared_->watch.nodes();
  std::array<store::LimitCheck, core::kThrottleKeysMax> checks;
  std::array<core::LimitStatus, core::kThrottleKeysMax> statuses;
  std::array<std::size_t, core::kThrottleKeysMax> places{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < decision.count; ++i) {
    const core::PolicyDraft& draft = decision.policies[i]->draft;
    if (draft.on_store_failure != core::OnStoreFailure::local) continue;
    checks[count] = {.key = decision.keys[i],
                     .limit = core::share_of(draft.limit, nodes),
                     .shadow = draft.shadow};
    places[count++] = i;
  }
  const store::LimitRequest request{.checks = std::span(checks).first(count),
                                    .cost = cost,
                                    .statuses = std::span(statuses).first(count)};
  Result<store::LimitAnswer> answer;
  shared_->local.apply({&request, 1}, std::nullopt, {&answer, 1});
  if (!answer) return;  // memory does not fail; were it so, the request passes as the others do
  for (std::size_t i = 0; i < count; ++i) decision.statuses[places[i]] = statuses[i];
  decision.allowed = answer->admitted;
  decision.bound = places[answer->bound];
}

Result<void> ThrottleService::hand_back() {
  const runtime::Deadline deadline(kHandBackMax);
  for (;;) {
    const std::vector<store::KeyUse> uses =
        PENSTOCK_TRY(shared_->local.list({}, kHandBackKeys, std::nullopt));
    if (uses.empty()) return {};
    PENSTOCK_TRY(charge_engine(uses, deadline.passed()));
    for (const store::KeyUse& use : uses) (void)shared_->local.reset(use.key);
  }
}

// What does not fit is charged as far as it does: the key is then at its limit.
Result<void> ThrottleService::charge_engine(std::span<const store::KeyUse> uses, bool forget) {
  if (forget) return {};
  const core::PolicySet& policies = cache_.current();
  std::vector<store::LimitCheck> checks(uses.size());
  std::vector<core::LimitStatus> statuses(uses.size());
  std::vector<store::LimitRequest> requests(uses.size());
  std::vector<Result<store::LimitAnswer>> answers(uses.size());
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const core::PolicyDraft& draft = policies.match(uses[i].key).draft;
    checks[i] = {.key = uses[i].key, .limit = draft.limit, .shadow = draft.shadow};
    requests[i] = {.checks = {&checks[i], 1}, .cost = uses[i].used, .statuses = {&statuses[i], 1}};
  }
  for (int round = 0; round < 2; ++round) {
    limits_.apply(requests, std::nullopt, answers);
    std::vector<store::LimitRequest> rest;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!answers[i]) return std::unexpected(answers[i].error());
      const core::LimitStatus& status = requests[i].statuses[0];
      if (status.admitted || status.remaining == 0) continue;
      rest.push_back(requests[i]);
      rest.back().cost = status.remaining;
    }
    if (rest.empty()) break;
    requests = std::move(rest);
    answers.resize(requests.size());
  }
  return {};
}

}  // namespace penstock::service
