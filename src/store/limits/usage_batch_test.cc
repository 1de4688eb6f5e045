#include "store/limits/usage_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/test_instants.h"

namespace penstock::store {
namespace {

constexpr core::Limit kLimit{.capacity = 3, .refill = {1, 1'000'000}, .window = Seconds{10}};

// An engine in a map, which loses rows and deadlocks on demand.
class Table final : public UsageSession {
 public:
  UsageResult<Read> look(std::span<const std::string_view> keys, std::optional<Instant>) override {
    ++looks;
    return read(keys);
  }
  UsageResult<Read> lock(std::span<const std::string_view> keys,
                         std::span<const std::string_view> missing,
                         std::optional<Instant>) override {
    ++locks;
    EXPECT_TRUE(std::ranges::is_sorted(keys));
    most_keys = std::max(most_keys, keys.size());
    for (const std::string_view key : missing) {
      if (vanishing == 0) rows.emplace(key, "");
    }
    vanishing -= vanishing > 0 ? 1 : 0;
    if (deadlocks > 0) {
      --deadlocks;
      return std::unexpected(
          UsageProblem{{.kind = ErrorKind::unavailable, .what = "deadlock"}, true});
    }
    return read(keys);
  }
  UsageResult<void> commit(std::span<const std::string_view> keys,
                           std::span<const BatchStates::Change> changes) override {
    if (commits_left == 0) {
      return std::unexpected(UsageProblem{{.kind = ErrorKind::timeout, .what = "too late"}});
    }
    --commits_left;
    for (const BatchStates::Change& change : changes) {
      rows.insert_or_assign(std::string(keys[change.key]), change.record);
    }
    return {};
  }

  std::map<std::string, std::string, std::less<>> rows;
  int looks = 0;
  int locks = 0;
  int deadlocks = 0;
  int vanishing = 0;
  int commits_left = 1'000;
  std::size_t most_keys = 0;

 private:
  Read read(std::span<const std::string_view> keys) {
    Read found{.rows = {}, .now = kStart};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto row = rows.find(keys[i]);
      if (row != rows.end()) found.rows.push_back({.key = i, .record = row->second});
    }
    return found;
  }
};

// One key for each request.
struct Batch {
  Batch(const std::vector<std::string>& names, std::int64_t cost)
      : keys(names), checks(names.size()), statuses(names.size()) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      checks[i] = {.key = keys[i], .limit = kLimit};
      requests.push_back({.checks = std::span(checks).subspan(i, 1),
                          .cost = cost,
                          .statuses = std::span(statuses).subspan(i, 1)});
    }
    answers.assign(keys.size(), fail(ErrorKind::corrupt, "no answer"));
  }
  int admitted(Table& table) {
    apply_in_transactions(table, requests, std::nullopt, answers);
    return static_cast<int>(std::ranges::count_if(
        answers, [](const auto& answer) { return answer && answer->admitted; }));
  }

  std::vector<std::string> keys;
  std::vector<LimitCheck> checks;
  std::vector<core::LimitStatus> statuses;
  std::vector<LimitRequest> requests;
  std::vector<Result<LimitAnswer>> answers;
};

TEST(UsageBatch, makes_rows_for_new_keys_before_it_locks_them) {
  Table table;
  EXPECT_EQ(Batch({"b", "a", "b", "b", "b"}, 1).admitted(table), 4);
  EXPECT_EQ(table.locks, 2);
  EXPECT_EQ(Batch({"b"}, 1).admitted(table), 0);
  EXPECT_EQ(table.locks, 3);
}

TEST(UsageBatch, locks_nothing_for_a_look) {
  Table table;
  EXPECT_EQ(Batch({"a", "b"}, 0).admitted(table), 2);
  EXPECT_EQ(table.looks, 1);
  EXPECT_EQ(table.locks, 0);
  EXPECT_TRUE(table.rows.empty());
}

TEST(UsageBatch, repeats_after_a_deadlock_and_charges_once) {
  Table table;
  table.deadlocks = 3;
  EXPECT_EQ(Batch({"a", "a", "a", "a"}, 1).admitted(table), 3);
}

TEST(UsageBatch, gives_up_after_a_few_deadlocks) {
  Table table;
  table.deadlocks = 1'000;
  Batch batch({"a"}, 1);
  EXPECT_EQ(batch.admitted(table), 0);
  EXPECT_EQ(batch.answers[0].error().what, "deadlock");
  EXPECT_LT(table.locks, 20);
}

TEST(UsageBatch, tries_again_when_a_row_is_swept_away_between_making_and_locking_it) {
  Table table;
  table.vanishing = 3;
  EXPECT_EQ(Batch({"a"}, 1).admitted(table), 1);
  table.rows.clear();
  table.vanishing = 1'000;
  Batch unlucky({"a"}, 1);
  EXPECT_EQ(unlucky.admitted(table), 0);
  EXPECT_EQ(unlucky.answers[0].error().kind, ErrorKind::unavailable);
}

TEST(UsageBatch, cuts_a_long_list_into_transactions) {
  std::vector<std::string> keys;
  for (int i = 0; i < 2'500; ++i) keys.push_back("k" + std::to_string(i));
  Table table;
  EXPECT_EQ(Batch(keys, 1).admitted(table), 2'500);
  EXPECT_EQ(table.most_keys, 1'000U);
  EXPECT_EQ(table.rows.size(), 2'500U);
}

TEST(UsageBatch, gives_the_error_to_the_transaction_that_failed_and_those_behind_it) {
  std::vector<std::string> keys;
  for (int i = 0; i < 2'500; ++i) keys.push_back("k" + std::to_string(i));
  Table table;
  table.commits_left = 1;
  Batch batch(keys, 1);
  EXPECT_EQ(batch.admitted(table), 1'000);
  EXPECT_TRUE(batch.answers[999]);
  EXPECT_EQ(batch.answers[1'000].error().kind, ErrorKind::timeout);
  EXPECT_EQ(batch.answers[2'499].error().kind, ErrorKind::timeout);
}

TEST(UsageBatch, a_row_without_a_record_is_no_use) {
  EXPECT_EQ(use_of("k", "", kStart).value().has_value(), false);
  EXPECT_EQ(use_of("k", "\x01\x02", kStart).error().kind, ErrorKind::corrupt);
}

}  // namespace
}  // namespace penstock::store
