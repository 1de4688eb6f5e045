// What the suites of QueueStore, LeaseStore and ItemTypeStore share. A backend instantiates
// QueueSuite, QueueSlotSuite, QueueDifferentialSuite, QueueConcurrencySuite, LeaseSuite and
// ItemTypeSuite (queue_suite.h) with the Subjects of harness.h.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

inline ItemType item_type(std::string text) { return ItemType::trusted(std::move(text)); }
inline ItemId item_id(std::string text) { return ItemId::trusted(std::move(text)); }

inline BodyDigest digest_of(std::string_view body) {
  BodyDigest digest{};
  std::uint64_t hash = 7;
  for (const char c : body) hash = mix64(hash ^ static_cast<unsigned char>(c));
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(mix64(hash + i));
  }
  return digest;
}

inline NewItem new_item(std::string type, std::string id, Instant due,
                        std::string context = R"({"a":1})") {
  return {.type = item_type(std::move(type)),
          .id = item_id(std::move(id)),
          .due = due,
          .slot = std::nullopt,
          .context = context,
          .digest = digest_of(context + std::to_string(to_epoch_millis(due)))};
}

inline LeaseRequest lease_request(std::string_view node, const ItemType& type = item_type("T")) {
  return {.type = type, .node = std::string(node), .term = Seconds{5}, .paused_until = {}};
}

class QueueSuite : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the backend under test did not start";
    ASSERT_NE(harness_->backend().queue.store, nullptr);
    ASSERT_NE(harness_->backend().queue.leases, nullptr);
    ASSERT_NE(harness_->backend().queue.types, nullptr);
  }

  Harness& harness() { return *harness_; }
  QueueStore& queue() { return *harness_->backend().queue.store; }
  LeaseStore& leases() { return *harness_->backend().queue.leases; }
  ItemTypeStore& types() { return *harness_->backend().queue.types; }

  Enqueued put(const NewItem& item, Instant now = kNoon) {
    std::vector<Result<Enqueued>> answers = queue().enqueue({&item, 1}, now);
    EXPECT_EQ(answers.size(), 1U);
    EXPECT_TRUE(answers.at(0)) << answers[0].error().what;
    return answers[0].value_or(Enqueued{});
  }
  void put_many(std::string_view prefix, int count, Instant due) {
    std::vector<NewItem> items;
    for (int i = 0; i < count; ++i) {
      items.push_back(new_item("T", std::string(prefix) + std::to_string(1'000 + i), due));
    }
    for (const Result<Enqueued>& each : queue().enqueue(items, kNoon)) ASSERT_TRUE(each);
  }

  Claim claim(FencingToken token, std::size_t limit, Instant now = kNoon, int retries_max = 5,
              Millis early = Millis{0}) {
    Result<Claim> got = queue().claim({.type = item_type("T"),
                                       .token = token,
                                       .limit = limit,
                                       .early = early,
                                       .stale = std::chrono::minutes{2},
                                       .retries_max = retries_max},
                                      now);
    EXPECT_TRUE(got) << got.error().what;
    return got ? std::move(*got) : Claim{};
  }
  static std::vector<std::string> ids(const Claim& claim) {
    std::vector<std::string> names;
    for (const ClaimedItem& item : claim.items) names.push_back(item.id.str());
    return names;
  }

  bool settle(FencingToken token, const std::string& id, Outcome outcome, Instant now = kNoon,
              std::string detail = {}, Instant not_before = {}, int retries_max = 5) {
    const Settlement one{.id = item_id(id),
                         .batch_id = "b",
                         .outcome = outcome,
                         .detail = std::move(detail),
                         .not_before = not_before};
    const Result<std::vector<bool>> moved = queue().settle(
        {.type = item_type("T"), .token = token, .retries_max = retries_max, .items = {&one, 1}},
        now);
    EXPECT_TRUE(moved) << moved.error().what;
    return moved && moved->at(0);
  }

  ItemView view(const std::string& id) {
    const Result<std::optional<ItemView>> found = queue().find(item_type("T"), item_id(id));
    EXPECT_TRUE(found && *found) << id;
    return found && *found ? **found : ItemView{};
  }
  std::uint64_t count(ItemState state) {
    const Result<QueueSummary> summary = queue().summary(item_type("T"));
    EXPECT_TRUE(summary) << summary.error().what;
    return summary ? summary->counts[static_cast<std::size_t>(state)] : 0;
  }

 private:
  std::unique_ptr<Harness> harness_;
};

class QueueSlotSuite : public QueueSuite {};
class QueueDifferentialSuite : public QueueSuite {};
class QueueConcurrencySuite : public QueueSuite {};
class LeaseSuite : public QueueSuite {};
class ItemTypeSuite : public QueueSuite {};

}  // namespace penstock::store::conformance
