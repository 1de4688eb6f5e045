// What the suites of PaymentStore and PaymentRuleStore share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/queue/conformance/queue_harness.h"

namespace penstock::store::conformance {

inline PaymentId payment_id(std::string text) { return PaymentId::trusted(std::move(text)); }
inline ItemId item_id_of(const PaymentId& id) { return ItemId::trusted(id.str()); }

inline NewPayment new_payment(std::string id, PaymentStatus status = PaymentStatus::scheduled,
                              std::string body = R"({"amount":"1.00"})",
                              Instant scheduled = kNoon) {
  const bool goes = status == PaymentStatus::scheduled;
  return {.id = payment_id(std::move(id)),
          .status = status,
          .scheduled = scheduled,
          .reason = goes ? "" : "because",
          .body = body,
          .context = goes ? R"({"context":)" + body + "}" : "",
          .digest = digest_of(body)};
}

class PaymentSuite : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the backend under test did not start";
    ASSERT_NE(harness_->backend().payments.store, nullptr);
    ASSERT_NE(harness_->backend().payments.rules, nullptr);
  }

  Harness& harness() { return *harness_; }
  PaymentStore& payments() { return *harness_->backend().payments.store; }
  PaymentRuleStore& rules() { return *harness_->backend().payments.rules; }
  QueueStore& queue() { return *harness_->backend().queue.store; }

  Result<TakenPayment> take(const NewPayment& payment, Instant now = kNoon) {
    std::vector<Result<TakenPayment>> answers = payments().take({&payment, 1}, now);
    EXPECT_EQ(answers.size(), 1U);
    return std::move(answers.at(0));
  }
  TakenPayment taken(const NewPayment& payment, Instant now = kNoon) {
    Result<TakenPayment> answer = take(payment, now);
    EXPECT_TRUE(answer) << answer.error().what;
    return answer.value_or(TakenPayment{});
  }
  Advanced advance(const std::string& id, PaymentStatus to, Instant now = kNoon,
                   std::string detail = {}) {
    const StatusChange change{.id = payment_id(id), .to = to, .detail = std::move(detail)};
    const Result<std::vector<Advanced>> done = payments().advance({&change, 1}, now);
    EXPECT_TRUE(done) << done.error().what;
    return done ? done->at(0) : Advanced{};
  }
  PaymentRecord record(const std::string& id) {
    const Result<std::optional<PaymentRecord>> found = payments().find(payment_id(id));
    EXPECT_TRUE(found && *found) << id;
    return found && *found ? **found : PaymentRecord{};
  }
  std::optional<ItemView> item(const std::string& id) {
    const auto found = queue().find(payment_item_type(), item_id(id));
    EXPECT_TRUE(found) << found.error().what;
    return found.value_or(std::nullopt);
  }
  // Claims what is due and settles it so.
  std::size_t settle_all(Outcome outcome, Instant now = kNoon, FencingToken token = 1) {
    const Result<Claim> claim = queue().claim({.type = payment_item_type(),
                                               .token = token,
                                               .limit = 100,
                                               .stale = std::chrono::minutes{2}},
                                              now);
    EXPECT_TRUE(claim) << claim.error().what;
    std::vector<Settlement> items;
    for (const ClaimedItem& each : claim->items) {
      items.push_back({.id = each.id,
                       .batch_id = claim->batch_id,
                       .outcome = outcome,
                       .detail = "said",
                       .not_before = {}});
    }
    if (!items.empty()) {
      EXPECT_TRUE(
          queue().settle({.type = payment_item_type(), .token = token, .items = items}, now));
    }
    return items.size();
  }
  std::vector<std::string> listed(std::optional<PaymentStatus> status,
                                  const std::string& after = {}, std::size_t limit = 100) {
    const Result<PaymentPage> page = payments().list(status, payment_id(after), limit);
    EXPECT_TRUE(page) << page.error().what;
    std::vector<std::string> ids;
    if (page) {
      for (const PaymentRow& row : page->rows) ids.push_back(row.id.str());
    }
    return ids;
  }

 private:
  std::unique_ptr<Harness> harness_;
};

class PaymentDifferentialSuite : public PaymentSuite {};
class PaymentConcurrencySuite : public PaymentSuite {};

}  // namespace penstock::store::conformance
