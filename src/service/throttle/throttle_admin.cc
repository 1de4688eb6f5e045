// The blocking half of the throttle service: policies, and what people ask about keys.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "service/reads.h"
#include "service/throttle/throttle_service.h"
#include "store/limits/ports.h"

namespace penstock::service {
namespace {

constexpr std::size_t kPolicyHistoryMax = 1'000;  // versions of one policy shown

std::unexpected<Error> no_policy(std::string_view key) {
  return fail(ErrorKind::not_found, fmt::format("there is no policy with the key '{}'", key));
}

std::string in_words(const core::Policy* policy) {
  if (policy == nullptr) return "none";
  const core::PolicyDraft& draft = policy->draft;
  return fmt::format("v{} {} capacity={} refill={}/s window={}s shadow={} on_store_failure={}",
                     policy->version, choice_name(draft.limit.type), draft.limit.capacity,
                     draft.refill_text, draft.limit.window.count(), draft.shadow,
                     choice_name(draft.on_store_failure));
}

}  // namespace

template <class T, class Work>
void ThrottleService::run(Done<T> done, Work work) {
  answer_on(tasks_, "throttle admin calls", std::move(done), std::move(work));
}

// Neither a change nor an answer may rest on a store that has just lost its policies.
template <class T, class Work>
void ThrottleService::run_on_policies(Done<T> done, Work work) {
  run(std::move(done), [this, work = std::move(work)]() mutable -> Result<T> {
    const std::lock_guard lock(policies_mutex_);
    if (policies_.recovery() != nullptr) {
      if (Result<void> fresh = refresh_held(); !fresh) return std::unexpected(fresh.error());
    }
    return work();
  });
}

void ThrottleService::log_change(std::string_view event, const core::Policy* before,
                                 const core::Policy* after, std::string_view request_id) {
  const core::Policy& either = after != nullptr ? *after : *before;
  log_.info(event, {{"policy", either.draft.key},
                    {"old", in_words(before)},
                    {"new", in_words(after)},
                    {"request_id", request_id}});
}

void ThrottleService::create_policy(core::PolicyDraft draft, std::string request_id,
                                    Done<core::Policy> done) {
  run_on_policies(
      std::move(done),
      [this, draft = std::move(draft),
       request_id = std::move(request_id)]() -> Result<core::Policy> {
        if (cache_.current().size() >= options_.policies_max) {
          return fail(
              ErrorKind::conflict,
              fmt::format("there are {} policies already, and no more are kept: use patterns",
                          options_.policies_max));
        }
        Result<core::Policy> made = policies_.create(draft, std::nullopt);
        if (!made) return made;
        cache_.put(*made);
        log_change("throttle.policy_created", nullptr, &*made, request_id);
        return made;
      });
}

void ThrottleService::update_policy(std::string key, PolicyMerge change, std::string request_id,
                                    Done<core::Policy> done) {
  run_on_policies(std::move(done),
                  [this, key = std::move(key), change = std::move(change),
                   request_id = std::move(request_id)]() mutable -> Result<core::Policy> {
                    const std::optional<core::Policy> before = PENSTOCK_TRY(policies_.find(key));
                    if (!before) return no_policy(key);
                    const core::PolicyDraft draft = PENSTOCK_TRY(change(before->draft));
                    core::Policy made = PENSTOCK_TRY(policies_.update(draft, std::nullopt));
                    cache_.put(made);
                    log_change("throttle.policy_updated", &*before, &made, request_id);
                    return made;
                  });
}

void ThrottleService::remove_policy(std::string key, std::string request_id,
                                    Done<core::Policy> done) {
  run_on_policies(
      std::move(done),
      [this, key = std::move(key), request_id = std::move(request_id)]() -> Result<core::Policy> {
        std::optional<core::Policy> before = PENSTOCK_TRY(policies_.find(key));
        if (!before) return no_policy(key);
        PENSTOCK_TRY(policies_.remove(key, std::nullopt));
        cache_.erase(key);
        log_change("throttle.policy_removed", &*before, nullptr, request_id);
        return std::move(*before);
      });
}

void ThrottleService::find_policy(std::string key, Done<core::Policy> done) {
  run_on_policies(std::move(done), [this, key = std::move(key)]() -> Result<core::Policy> {
    std::optional<core::Policy> found = PENSTOCK_TRY(policies_.find(key));
    if (!found) return no_policy(key);
    return std::move(*found);
  });
}

void ThrottleService::list_policies(std::string after, std::size_t limit,
                                    Done<std::vector<core::Policy>> done) {
  run_on_policies(std::move(done),
                  [this, after = std::move(after), limit] { return policies_.list(after, limit); });
}

void ThrottleService::policy_history(std::string key, Done<std::vector<core::Policy>> done) {
  run_on_policies(
      std::move(done), [this, key = std::move(key)]() -> Result<std::vector<core::Policy>> {
        Result<std::vector<core::Policy>> versions = policies_.history(key, kPolicyHistoryMax);
        if (versions && versions->empty()) return no_policy(key);
        return versions;
      });
}

void ThrottleService::reset(std::string key, std::string request_id, Done<bool> done) {
  run(std::move(done),
      [this, key = std::move(key), request_id = std::move(request_id)]() -> Result<bool> {
        const Result<bool> had = limits_.reset(key);
        if (had) {
          log_.info("throttle.key_reset",
                    {{"key", key}, {"had_usage", *had}, {"request_id", request_id}});
        }
        return had;
      });
}

core::KeyMetrics ThrottleService::metrics_of(std::string key,
                                             const std::optional<store::KeyUse>& use) const {
  const core::Limit& limit =
      use && store::has_client_limit(key) ? use->limit : cache_.current().match(key).draft.limit;
  core::KeyMetrics metrics{.key = std::move(key),
                           .type = limit.type,
                           .tokens = limit.capacity,
                           .capacity = limit.capacity,
                           .window = limit.window};
  // Another type starts fresh, so the usage under the old one says nothing any more.
  if (use && use->limit.type == limit.type) {
    metrics.tokens = std::clamp(limit.capacity - use->used, std::int64_t{0}, limit.capacity);
    metrics.window_count = use->window_count;
  }
  return metrics;
}

void ThrottleService::key_metrics(std::string key, Done<core::KeyMetrics> done) {
  run(std::move(done), [this, key = std::move(key)]() mutable -> Result<core::KeyMetrics> {
    const std::optional<store::KeyUse> use = PENSTOCK_TRY(limits_.find(key, std::nullopt));
    return metrics_of(std::move(key), use);
  });
}

void ThrottleService::list_metrics(std::string after, std::size_t limit,
                                   Done<std::vector<core::KeyMetrics>> done) {
  run(std::move(done),
      [this, after = std::move(after), limit]() -> Result<std::vector<core::KeyMetrics>> {
        std::vector<store::KeyUse> uses = PENSTOCK_TRY(limits_.list(after, limit, std::nullopt));
        std::vector<core::KeyMetrics> page;
        page.reserve(uses.size());
        for (const store::KeyUse& use : uses) page.push_back(metrics_of(use.key, use));
        return page;
      });
}

}  // namespace penstock::service
