// The use cases of throttle: decide, look, reset, and the policies behind it. Thread-safe.
//
// Limits of this node's own decide on the calling thread, so their LimitStore must not block: that
// is the memory store's promise. Those of a shared engine are asked through an EngineGate, by the
// same plan and settle steps, and while the engine does not answer each policy says what happens.
// The other calls return at once; their answer comes to `done` on the service's own thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "core/policy/decision.h"
#include "core/policy/policy.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "runtime/task_queue.h"
#include "service/throttle/engine_gate.h"
#include "service/throttle/engine_watch.h"
#include "service/throttle/policy_cache.h"
#include "service/throttle/throttle_metrics.h"
#include "store/limits/ports.h"

namespace penstock::service {

struct ThrottleOptions {
  core::PolicyDraft default_policy = core::default_policy_draft();
  bool tokens_remaining = false;       // the gauge per policy
  std::size_t policies_max = 100'000;  // about 50 MB compiled
};

// The engine that several nodes share, and what this node does without it. All must outlive the
// service.
struct SharedLimits {
  EngineGate& gate;
  EngineWatch& watch;
  store::LimitStore& local;  // must not block; decides by this node's share meanwhile
};

// One entry of a batch: a decision of its own.
struct ThrottleEntry {
  std::string_view key;
  std::int64_t cost = 1;
};

class ThrottleService {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;

  using KeyDecisions = std::span<const Result<core::KeyDecision>>;

  // Loads the policies; fails when the store cannot tell them. The stores, log and metrics must
  // outlive the service. With `shared`, `limits` are the engine's and may block.
  static Result<std::unique_ptr<ThrottleService>> start(ThrottleOptions options,
                                                        store::LimitStore& limits,
                                                        store::PolicyStore& policies, Log& log,
                                                        runtime::Metrics& metrics,
                                                        std::optional<SharedLimits> shared = {});
  ~ThrottleService() { stop(); }

  // Decides about a call with at least one key: `done(Result<void>, const ThrottleDecision&)`,
  // before this returns when the limits are this node's own, else later on another thread. The
  // decision's views are valid within `done`.
  template <class Done>
  void ask(const core::ThrottleCall& call, Done&& done) {
    if (shared_) return submit(call, std::forward<Done>(done));
    core::ThrottleDecision decision;
    Result<void> decided = check(call, decision);
    done(std::move(decided), std::as_const(decision));
  }
  // The same for answers that stand in the order of `entries`: `done(KeyDecisions)`.
  template <class Done>
  void ask_batch(std::span<const ThrottleEntry> entries, Done&& done) {
    if (shared_ && !entries.empty()) return submit_batch(entries, std::forward<Done>(done));
    const std::vector<Result<core::KeyDecision>> decisions = check_batch(entries);
    done(KeyDecisions(decisions));
  }

  // Only when the limits are this node's own. `decision` has views of `call` and of the policies;
  // the latter stay valid until this thread's next call.
  Result<void> check(const core::ThrottleCall& call, core::ThrottleDecision& decision);
  std::vector<Result<core::KeyDecision>> check_batch(std::span<const ThrottleEntry> entries);

  // Decides about calls whose limits come with them, and not from a policy (CL.THROTTLE): one check
  // for each request, with a key that store::has_client_limit(). Counted as all decisions are.
  // Blocks only if the engine is shared, and then at most for the gate's deadline.
  void ask_client_limits(std::span<const store::LimitRequest> requests,
                         std::span<Result<store::LimitAnswer>> answers);
  // Forgets what such a key has used; false: nothing. Blocks for one round trip to the engine.
  Result<bool> forget_client_limit(std::string_view key) { return limits_.reset(key); }

  // Once the engine is back: what this node let through alone is charged there, as far as it fits.
  // Blocks.
  Result<void> hand_back();

  void reset(std::string key, std::string request_id, Done<bool> done);
  // Of a key without usage too: it has all its tokens.
  void key_metrics(std::string key, Done<core::KeyMetrics> done);
  void list_metrics(std::string after, std::size_t limit, Done<std::vector<core::KeyMetrics>> done);
  core::ThrottleTotals totals() const;
  // The part of them that calls with limits of their own have.
  ThrottleMetrics::ClientTotals client_totals() const { return metrics_.client_totals(); }
  // Since the start, on this node.
  std::vector<DeniedKey> top_denied(std::size_t limit) const { return denied_.top(limit); }

  void create_policy(core::PolicyDraft draft, std::string request_id, Done<core::Policy> done);
  // `change` makes the new draft from the one in force; of the same key.
  using PolicyMerge = std::move_only_function<Result<core::PolicyDraft>(const core::PolicyDraft&)>;
  void update_policy(std::string key, PolicyMerge change, std::string request_id,
                     Done<core::Policy> done);
  void remove_policy(std::string key, std::string request_id, Done<core::Policy> done);  // the old
  void find_policy(std::string key, Done<core::Policy> done);
  void list_policies(std::string after, std::size_t limit, Done<std::vector<core::Policy>> done);
  void policy_history(std::string key, Done<std::vector<core::Policy>> done);

  const core::PolicyDraft& default_policy() const noexcept { return options_.default_policy; }

  // Takes up what other nodes changed; also done every PolicyCache::kRefreshInterval.
  Result<void> refresh_policies();

  // A sentence while the store lacks policies that this node enforces, and for a minute after they
  // were written back; else empty. Quick.
  std::string policies_warning() const;

  // Finishes what was taken; later calls with `done` are answered `overloaded`. Idempotent.
  void stop();

 private:
  using Asked = std::move_only_function<void(Result<void>, const core::ThrottleDecision&)>;
  using AskedBatch = std::move_only_function<void(KeyDecisions)>;

  ThrottleService(ThrottleOptions options, store::LimitStore& limits, store::PolicyStore& policies,
                  Log& log, runtime::Metrics& metrics, std::optional<SharedLimits> shared);

  // throttle_shared.cc
  void submit(const core::ThrottleCall& call, Asked done);
  void submit_batch(std::span<const ThrottleEntry> entries, AskedBatch done);
  void wait_for_engine(std::span<const store::LimitRequest> requests,
                       std::span<Result<store::LimitAnswer>> answers);
  // The store gave no answer: what the policies say then, or `error`.
  Result<void> fall_back(std::int64_t cost, const Error& error, core::ThrottleDecision& decision);
  void decide_locally(std::int64_t cost, core::ThrottleDecision& decision);
  Result<void> charge_engine(std::span<const store::KeyUse> uses, bool forget);

  // Before the store is asked: which limits hold for the keys.
  static void plan(const core::PolicySet& policies, const core::ThrottleCall& call,
                   std::span<store::LimitCheck> checks, core::ThrottleDecision& decision);
  // After it answered.
  Result<void> settle(std::int64_t cost, const Result<store::LimitAnswer>& answer,
                      core::ThrottleDecision& decision);
  void count(std::int64_t cost, const core::ThrottleDecision& decision);
  Result<void> decide(const core::ThrottleCall& call, std::span<store::LimitCheck> checks,
                      core::ThrottleDecision& decision);
  Result<core::KeyDecision> settle_entry(const ThrottleEntry& entry, const core::Policy& policy,
                                         const core::LimitStatus& status,
                                         const Result<store::LimitAnswer>& answer);
  core::KeyMetrics metrics_of(std::string key, const std::optional<store::KeyUse>& use) const;
  void log_change(std::string_view event, const core::Policy* before, const core::Policy* after,
                  std::string_view request_id);
  void keep_fresh();

  // Runs `work` on the service's thread and hands its value to `done`.
  template <class T, class Work>
  void run(Done<T> done, Work work);
  template <class T, class Work>
  void run_on_policies(Done<T> done, Work work);
  Result<void> refresh_held();  // under policies_mutex_
  void note_loss(const PolicyCache::Loss& loss, const Result<bool>& refreshed);

  const ThrottleOptions options_;
  store::LimitStore& limits_;
  store::PolicyStore& policies_;
  Log& log_;
  ThrottleMetrics metrics_;
  DeniedKeys denied_;
  PolicyCache cache_;
  const std::optional<SharedLimits> shared_;
  runtime::TaskQueue tasks_;  // one thread: changes of policies are seen in their order

  std::mutex policies_mutex_;  // held while the cache is refreshed or a policy changed

  mutable std::mutex loss_mutex_;
  std::size_t missing_ = 0;                    // in the store; guarded by loss_mutex_
  std::size_t restored_ = 0;                   // the last time; guarded by loss_mutex_
  std::optional<runtime::Stopwatch> restore_;  // since then; guarded by loss_mutex_

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  bool stale_ = false;     // the refreshing thread's: the last refresh failed
  std::thread refresher_;  // last: it uses all of the above
};

}  // namespace penstock::service
