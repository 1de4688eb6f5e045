// What the suites of QuotaStore share. A backend instantiates QuotaSuite, QuotaDifferentialSuite,
// QuotaConcurrencySuite, QuotaPropertySuite, QuotaGateSuite and SendKeySuite (quota_suite.h) with
// the Subjects of harness.h.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "core/gateway/message.h"
#include "store/queue/conformance/queue_harness.h"
#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

class QuotaHarness : public testing::TestWithParam<Subject> {
 protected:
  static constexpr std::size_t kMany = 10'000;

  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the backend under test did not start";
    ASSERT_NE(harness_->backend().quota.store, nullptr);
    now_ = harness_->now();
  }

  QuotaStore& quotas() { return *harness_->backend().quota.store; }
  QueueStore& queue() { return *harness_->backend().queue.store; }

  Send message(UserId user, std::string text = "Hello", std::string key = {},
               std::int64_t cost = 1) {
    return {
        .user = user,
        .cost = cost,
        .id = core::make_message_id(now_, user, mix64(++drawn_), 0),
        .key = std::move(key),
        .digest = digest_of(text),
        .context = "{\"userId\":" + std::to_string(user.raw) + ",\"message\":\"" + text + "\"}"};
  }

  Quota put(UserId user, std::int64_t limit, std::int64_t minutes = 5) {
    const auto put =
        quotas().put(user, {.rate_limit = limit, .window = core::Minutes{minutes}}, now_);
    EXPECT_TRUE(put) << put.error().what;
    return put ? *put : Quota{};
  }

  Quota quota(UserId user) {
    const auto found = quotas().find(user);
    EXPECT_TRUE(found && *found) << "no quota of user " << user.raw;
    return found && *found ? **found : Quota{};
  }

  std::vector<Sent> send(const std::vector<Send>& sends) {
    std::vector<Sent> out;
    for (Result<Sent>& answer : quotas().send(sends, now_)) {
      EXPECT_TRUE(answer) << answer.error().what;
      out.push_back(answer ? std::move(*answer) : Sent{});
    }
    return out;
  }
  Sent send(const Send& one) { return send(std::vector{one}).front(); }

  bool is_queued(const ItemId& id) {
    const auto found = queue().find(message_item_type(), id);
    EXPECT_TRUE(found) << found.error().what;
    return found && *found;
  }
  std::uint64_t queued() {
    const auto summary = queue().summary(message_item_type());
    EXPECT_TRUE(summary) << summary.error().what;
    return summary ? summary->counts[static_cast<std::size_t>(ItemState::ready)] : 0;
  }

  // Takes all messages out of the queue, as the sender does.
  std::vector<ClaimedItem> consume() {
    LeaseStore& leases = *harness_->backend().queue.leases;
    const auto lease = leases.acquire(lease_request("sender", message_item_type()), now_);
    EXPECT_TRUE(lease && *lease);
    if (!lease || !*lease) return {};
    auto claim = queue().claim({.type = message_item_type(),
                                .token = (*lease)->token,
                                .limit = kMany,
                                .early = Millis{0},
                                .stale = std::chrono::minutes{2}},
                               now_);
    EXPECT_TRUE(claim) << claim.error().what;
    if (!claim) return {};
    std::vector<Settlement> done;
    for (const ClaimedItem& item : claim->items) {
      done.push_back({.id = item.id, .batch_id = claim->batch_id});
    }
    const auto settled = queue().settle(
        {.type = message_item_type(), .token = (*lease)->token, .items = done}, now_);
    EXPECT_TRUE(settled) << settled.error().what;
    return std::move(claim->items);
  }

  std::vector<UsagePoint> usage(UserId user, Instant from, Instant to) {
    const auto points = quotas().usage(user, from, to, kMany);
    EXPECT_TRUE(points) << points.error().what;
    return points ? *points : std::vector<UsagePoint>{};
  }

  std::unique_ptr<Harness> harness_;
  Instant now_{};
  std::uint64_t drawn_ = 0;
};

inline constexpr UserId kAnna{101};
inline constexpr UserId kBoris{102};

}  // namespace penstock::store::conformance
