#include "service/gateway/send_tally.h"

#include <gtest/gtest.h>

#include <set>

namespace penstock::service {
namespace {

using store::Attempt;
using store::AttemptOutcome;
using store::SendResult;
using store::Sent;

class Kept final : public store::AttemptStore {
 public:
  Result<void> append(std::span<const Attempt> attempts) override {
    if (left_to_take == 0) return fail(ErrorKind::unavailable, "away");
    --left_to_take;
    rows.insert(rows.end(), attempts.begin(), attempts.end());
    return {};
  }
  Result<std::vector<Attempt>> page(Instant, Instant, std::optional<store::AttemptMark>,
                                    std::size_t) override {
    return rows;
  }
  Result<std::size_t> forget_attempts(Instant, std::size_t) override { return 0; }

  std::vector<Attempt> rows;
  int left_to_take = 1'000;
};

class AttemptLogTest : public testing::Test {
 protected:
  static constexpr Instant kNow{Seconds{1'700'000'000}};

  AttemptLog log(core::AttemptDetail detail = core::AttemptDetail::texts) {
    return AttemptLog(store_, detail, 7, metrics_);
  }
  static void send(AttemptLog& log, const std::vector<Result<Sent>>& answers) {
    std::vector<core::SendCall> calls(answers.size(), {.user = {5}, .message = "Hello"});
    log.note(log.remember(calls), answers, kNow);
  }

  Kept store_;
  runtime::Metrics metrics_;
};

TEST_F(AttemptLogTest, writes_what_came_of_each) {
  AttemptLog attempts = log();
  send(attempts, {Sent{.result = SendResult::sent, .id = ItemId::trusted("m-1")},
                  Sent{.result = SendResult::limited}, Sent{.result = SendResult::never},
                  Sent{.result = SendResult::unpublished}, Sent{.result = SendResult::unconfirmed},
                  fail(ErrorKind::unavailable, "away")});
  EXPECT_TRUE(store_.rows.empty()) << "nobody waits for it";
  ASSERT_TRUE(attempts.flush());
  ASSERT_EQ(store_.rows.size(), 6U);
  const AttemptOutcome outcomes[] = {AttemptOutcome::sent,    AttemptOutcome::limited,
                                     AttemptOutcome::limited, AttemptOutcome::failed,
                                     AttemptOutcome::failed,  AttemptOutcome::failed};
  std::set<std::int64_t> numbers;
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(store_.rows[i].outcome, outcomes[i]);
    EXPECT_EQ(store_.rows[i].user.raw, 5);
    EXPECT_EQ(store_.rows[i].text, "Hello");
    EXPECT_EQ(store_.rows[i].mark.at, kNow);
    EXPECT_GE(store_.rows[i].mark.number, 0);
    numbers.insert(store_.rows[i].mark.number);
  }
  EXPECT_EQ(numbers.size(), 6U);
  EXPECT_EQ(store_.rows[0].message.str(), "m-1");
  EXPECT_TRUE(store_.rows[1].message.empty());
  ASSERT_TRUE(attempts.flush());
  EXPECT_EQ(store_.rows.size(), 6U);
}

TEST_F(AttemptLogTest, what_is_nobodys_attempt_is_none) {
  AttemptLog attempts = log();
  send(attempts, {Sent{.result = SendResult::repeated, .id = ItemId::trusted("m-1")},
                  Sent{.result = SendResult::different}, Sent{.result = SendResult::pending},
                  Sent{.result = SendResult::unknown_user}});
  ASSERT_TRUE(attempts.flush());
  EXPECT_TRUE(store_.rows.empty());
}

TEST_F(AttemptLogTest, texts_are_kept_only_when_asked_for) {
  AttemptLog attempts = log(core::AttemptDetail::events);
  send(attempts, {Sent{.result = SendResult::limited}});
  ASSERT_TRUE(attempts.flush());
  EXPECT_EQ(store_.rows.at(0).text, "");
}

TEST_F(AttemptLogTest, what_could_not_be_written_waits_in_order) {
  AttemptLog attempts = log();
  const std::vector<Result<Sent>> many(3'000, Sent{.result = SendResult::limited});
  send(attempts, many);
  store_.left_to_take = 1;
  EXPECT_FALSE(attempts.flush());
  const std::size_t first = store_.rows.size();
  EXPECT_GT(first, 0U);
  send(attempts, {Sent{.result = SendResult::sent, .id = ItemId::trusted("last")}});
  store_.left_to_take = 1'000;
  ASSERT_TRUE(attempts.flush());
  EXPECT_EQ(store_.rows.size(), 3'001U);
  EXPECT_EQ(store_.rows.back().message.str(), "last");
}

TEST_F(AttemptLogTest, drops_and_counts_what_there_is_no_room_for) {
  AttemptLog attempts = log(core::AttemptDetail::events);
  const std::vector<Result<Sent>> many(AttemptLog::kWaitingMax / 2 + 5,
                                       Sent{.result = SendResult::limited});
  send(attempts, many);
  send(attempts, many);
  EXPECT_NE(metrics_.prometheus_text().find("gateway_attempts_dropped_total 10"),
            std::string::npos);
  ASSERT_TRUE(attempts.flush());
  EXPECT_EQ(store_.rows.size(), AttemptLog::kWaitingMax);
}

}  // namespace
}  // namespace penstock::service
