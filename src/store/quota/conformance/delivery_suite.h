// The rules that every DeliveryStore keeps.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

class DeliverySuite : public testing::TestWithParam<Subject> {
 protected:
  using State = core::DeliveryState;

  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the backend under test did not start";
    ASSERT_NE(harness_->backend().quota.deliveries, nullptr);
    now_ = cut_to_millis(harness_->now());
  }

  DeliveryStore& store() { return *harness_->backend().quota.deliveries; }
  static ItemId id(std::string text) { return ItemId::trusted(std::move(text)); }
  static PartName name(std::string reference, std::string provider = "me@smsc") {
    return {.provider = std::move(provider), .reference = std::move(reference)};
  }

  void take(PartName name, const std::string& message, int part = 1, int parts = 1) {
    const TakenPart taken{
        .name = std::move(name), .message = id(message), .part = part, .parts = parts};
    const auto done = store().note_taken({&taken, 1}, now_);
    EXPECT_TRUE(done) << done.error().what;
  }
  bool report(PartName name, State state, std::string detail = {}) {
    const PartReport report{.name = std::move(name), .state = state, .detail = std::move(detail)};
    const auto done = store().note_reports({&report, 1}, now_);
    EXPECT_TRUE(done) << done.error().what;
    return done && done->front();
  }
  std::vector<core::DeliveryPart> parts(const std::string& message) {
    const auto found = store().find_parts(id(message));
    EXPECT_TRUE(found) << found.error().what;
    return found.value_or(std::vector<core::DeliveryPart>{});
  }

  std::unique_ptr<Harness> harness_;
  Instant now_{};
};

TEST_P(DeliverySuite, a_report_finds_its_message) {
  EXPECT_TRUE(parts("m-1").empty());
  take(name("r-1"), "m-1");
  ASSERT_EQ(parts("m-1").size(), 1U);
  EXPECT_EQ(parts("m-1").front(), core::DeliveryPart{});
  now_ += Seconds{5};
  EXPECT_TRUE(report(name("r-1"), State::delivered, "DELIVRD"));
  EXPECT_EQ(
      parts("m-1").front(),
      (core::DeliveryPart{
          .part = 1, .parts = 1, .state = State::delivered, .at = now_, .detail = "DELIVRD"}));
  EXPECT_TRUE(parts("m-2").empty());
  EXPECT_TRUE(parts("m").empty()) << "the begin of another id";
}

TEST_P(DeliverySuite, a_report_that_comes_first_waits_for_its_message) {
  EXPECT_FALSE(report(name("r-1"), State::expired, "EXPIRED"));
  const Instant then = now_;
  now_ += Seconds{1};
  take(name("r-1"), "m-1", 2, 3);
  EXPECT_EQ(parts("m-1").front(),
            (core::DeliveryPart{
                .part = 2, .parts = 3, .state = State::expired, .at = then, .detail = "EXPIRED"}));
  EXPECT_TRUE(report(name("r-1"), State::delivered));
}

TEST_P(DeliverySuite, what_is_final_stays_until_something_final_comes) {
  take(name("r-1"), "m-1");
  report(name("r-1"), State::enroute, "ENROUTE");
  EXPECT_EQ(parts("m-1").front().state, State::enroute);
  report(name("r-1"), State::delivered, "DELIVRD");
  EXPECT_TRUE(report(name("r-1"), State::enroute, "late"));
  EXPECT_EQ(parts("m-1").front().state, State::delivered);
  EXPECT_EQ(parts("m-1").front().detail, "DELIVRD");
  report(name("r-1"), State::undeliverable, "UNDELIV");
  EXPECT_EQ(parts("m-1").front().state, State::undeliverable);
}

TEST_P(DeliverySuite, a_name_that_is_used_again_belongs_to_the_new_message) {
  take(name("r-1"), "m-1");
  report(name("r-1"), State::delivered);
  take(name("r-1"), "m-1");
  EXPECT_EQ(parts("m-1").front().state, State::delivered) << "the same message: nothing new";
  take(name("r-1"), "m-2");
  EXPECT_TRUE(parts("m-1").empty());
  ASSERT_EQ(parts("m-2").size(), 1U);
  EXPECT_EQ(parts("m-2").front(), core::DeliveryPart{});
}

TEST_P(DeliverySuite, providers_have_names_of_their_own) {
  take(name("r-1", "a@x"), "m-1");
  take(name("r-1", "b@x"), "m-2");
  report(name("r-1", "b@x"), State::rejected);
  EXPECT_EQ(parts("m-1").front().state, State::pending);
  EXPECT_EQ(parts("m-2").front().state, State::rejected);
}

TEST_P(DeliverySuite, a_batch_is_taken_in_order) {
  const TakenPart taken[] = {{.name = name("z"), .message = id("m"), .part = 2, .parts = 2},
                             {.name = name("a"), .message = id("m"), .part = 1, .parts = 2},
                             {.name = name("z"), .message = id("m"), .part = 2, .parts = 2}};
  ASSERT_TRUE(store().note_taken(taken, now_));
  const PartReport reports[] = {{.name = name("z"), .state = State::delivered, .detail = "z"},
                                {.name = name("unknown"), .state = State::enroute, .detail = ""},
                                {.name = name("a"), .state = State::enroute, .detail = "a"},
                                {.name = name("z"), .state = State::enroute, .detail = "late"},
                                {.name = name("a"), .state = State::delivered, .detail = "b"}};
  EXPECT_EQ(store().note_reports(reports, now_),
            (std::vector<bool>{true, false, true, true, true}));
  const auto found = parts("m");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].part, 1);
  EXPECT_EQ(found[0].detail, "b");
  EXPECT_EQ(found[1].part, 2);
  EXPECT_EQ(found[1].detail, "z");
  EXPECT_TRUE(store().note_taken({}, now_));
  EXPECT_TRUE(store().note_reports({}, now_)->empty());
}

TEST_P(DeliverySuite, forgets_the_oldest_first) {
  const Instant begin = now_;
  for (int i = 0; i < 5; ++i) {
    take(name("r-" + std::to_string(i)), "m-" + std::to_string(i));
    now_ += Seconds{1};
  }
  report(name("r-0"), State::delivered);  // does not make it younger
  EXPECT_EQ(store().forget_parts(begin, 100), 0U);
  EXPECT_EQ(store().forget_parts(begin + Seconds{3}, 2), 2U);
  EXPECT_TRUE(parts("m-0").empty());
  EXPECT_TRUE(parts("m-1").empty());
  EXPECT_EQ(parts("m-2").size(), 1U);
  EXPECT_EQ(store().forget_parts(begin + Seconds{3}, 100), 1U);
  EXPECT_TRUE(parts("m-2").empty());
  EXPECT_EQ(parts("m-3").size(), 1U);
  EXPECT_FALSE(report(name("r-0"), State::delivered)) << "nobody's by now";
}

// Quotas, keys and their claims may stand in the same place.
TEST_P(DeliverySuite, what_the_gateway_forgets_is_not_parts) {
  take(name("r-1"), "m-1");
  report(name("r-2"), State::delivered);
  const auto sweep =
      harness_->backend().quota.store->forget(now_ + Seconds{1}, now_ + Seconds{1}, 100);
  ASSERT_TRUE(sweep) << sweep.error().what;
  EXPECT_EQ(sweep->gone, 0U);
  EXPECT_EQ(parts("m-1").size(), 1U);
}

// The same steps on a plain map.
TEST_P(DeliverySuite, does_what_a_map_would_do) {
  struct Row {
    std::string message;
    core::DeliveryPart part;
  };
  std::map<PartName, Row> model;
  Rng rng(21);
  for (int step = 0; step < 400; ++step) {
    now_ += Seconds{1};
    const PartName which =
        name("r" + std::to_string(rng.below(12)), rng.below(2) == 0 ? "a@x" : "b@x");
    if (rng.below(2) == 0) {
      const std::string message = "m" + std::to_string(rng.below(6));
      take(which, message, 1, 1);
      Row& row = model[which];
      if (!row.message.empty() && row.message != message) row.part = {};
      row.message = message;
    } else {
      const auto state =
          static_cast<State>(1 + rng.below(static_cast<std::uint64_t>(core::kDeliveryStateMax)));
      Row& row = model[which];
      EXPECT_EQ(report(which, state, std::to_string(step)), !row.message.empty());
      if (core::replaces(state, row.part.state)) {
        row.part.state = state;
        row.part.at = now_;
        row.part.detail = std::to_string(step);
      }
    }
    const std::string message = "m" + std::to_string(rng.below(6));
    std::vector<core::DeliveryPart> expected;
    for (const auto& [part, row] : model) {
      if (row.message == message) expected.push_back(row.part);
    }
    ASSERT_EQ(parts(message), expected) << "step " << step;
  }
}

}  // namespace penstock::store::conformance
