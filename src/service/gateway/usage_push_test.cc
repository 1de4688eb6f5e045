// What is handed on, when, and what happens when the other side does not take it.
#include "service/gateway/usage_push.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/test_instants.h"

namespace penstock::service {
namespace {

using store::UsageMark;
using store::UserId;
using store::UserMinute;

constexpr Micros kMinute = std::chrono::minutes{1};

class SettableClock final : public Clock {
 public:
  Instant now() const noexcept override {
    const std::lock_guard lock(mutex_);
    ++asked;
    return now_;
  }
  void set(Instant now) {
    const std::lock_guard lock(mutex_);
    now_ = now;
  }

 private:
  mutable std::mutex mutex_;
  Instant now_ = kNoon;

 public:
  mutable std::atomic<int> asked = 0;  // every look asks
};

// A store in memory; outlives the pushes that use it, as the real one does.
class FakeStore final : public store::UsageExport {
 public:
  Result<std::vector<UserMinute>> page(Instant from, Instant to, std::optional<UsageMark> after,
                                       std::size_t limit) override {
    const std::lock_guard lock(mutex);
    std::vector<UserMinute> out;
    for (const auto& [mark, sent] : minutes) {
      if (mark.minute < from || mark.minute >= to || (after && mark <= *after)) continue;
      if (out.size() == limit) break;
      out.push_back({.user = mark.user, .minute = mark.minute, .counts = {.sent = sent}});
    }
    return out;
  }
  Result<Turn> take_turn(std::string_view, std::string_view, Millis,
                         std::optional<Instant>) override {
    const std::lock_guard lock(mutex);
    ++turns;
    changed.notify_all();
    return Turn{.mine = mine, .done_to = done_to};
  }
  Result<bool> set_done_to(std::string_view, std::string_view, Instant to) override {
    const std::lock_guard lock(mutex);
    done_to = to;
    changed.notify_all();
    return true;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<UsageMark, std::int64_t> minutes;
  std::optional<Instant> done_to;
  bool mine = true;
  int turns = 0;
};

class UsagePushTest : public testing::Test {
 protected:
  void count(int user, int minute, std::int64_t sent) {
    const std::lock_guard lock(store_.mutex);
    store_.minutes[{.minute = kNoon + minute * kMinute, .user = UserId{user}}] = sent;
  }

  std::unique_ptr<UsagePush> push(std::size_t batch_max = 100) {
    UsagePushOptions options{.node = "n", .batch_max = batch_max};
    options.interval = Millis{1};
    options.retry_first = Seconds{10};  // of the clock that the test sets
    return std::make_unique<UsagePush>(
        options, store_,
        [this](std::span<const UserMinute> batch) -> Result<BulkAnswer> {
          const std::lock_guard lock(store_.mutex);
          ++requests_;
          store_.changed.notify_all();
          if (answer_ && !*answer_) return *answer_;
          for (const UserMinute& each : batch) {
            received_.emplace_back(each.user.raw, static_cast<int>((each.minute - kNoon) / kMinute),
                                   each.counts.sent);
          }
          return answer_.value_or(BulkAnswer{});
        },
        clock_, log_, metrics_.emplace_back());
  }

  template <class Condition>
  void wait(Condition condition) {
    std::unique_lock lock(store_.mutex);
    ASSERT_TRUE(store_.changed.wait_for(lock, std::chrono::seconds(30), condition));
  }
  void wait_done_to(int minute) {
    wait([&] { return store_.done_to == kNoon + minute * kMinute; });
  }
  // At least one whole look from now on.
  void wait_for_looks(int looks) {
    int from = 0;
    {
      const std::lock_guard lock(store_.mutex);
      from = store_.turns;
    }
    wait([&] { return store_.turns >= from + looks; });
  }

  // Until it has asked for the time so often from now on: once or more in every look.
  void look_at_the_clock(int times) const {
    const int from = clock_.asked;
    while (clock_.asked < from + times) std::this_thread::yield();
  }

  using Row = std::tuple<int, int, std::int64_t>;

  SettableClock clock_;
  int null_ = ::dup(2);
  Log log_{clock_, null_, LogLevel::off, LogFormat::text};
  std::deque<runtime::Metrics> metrics_;  // one for each life of a daemon
  FakeStore store_;
  std::vector<Row> received_;                 // guarded by store_.mutex
  int requests_ = 0;                          // the same
  std::optional<Result<BulkAnswer>> answer_;  // the same; none = all is taken
  ~UsagePushTest() override { ::close(null_); }
};

TEST_F(UsagePushTest, hands_on_minutes_that_have_ended) {
  count(1, -2, 5);
  count(2, -2, 6);
  count(1, -1, 7);
  count(1, 0, 8);
  clock_.set(kNoon + Seconds{4});  // the minute before has only just ended
  const auto running = push();
  wait_done_to(-1);
  {
    const std::lock_guard lock(store_.mutex);
    EXPECT_EQ(received_, (std::vector<Row>{{1, -2, 5}, {2, -2, 6}}));
  }
  clock_.set(kNoon + Seconds{6});
  wait_done_to(0);
  const std::lock_guard lock(store_.mutex);
  EXPECT_EQ(received_, (std::vector<Row>{{1, -2, 5}, {2, -2, 6}, {1, -1, 7}})) << "each once";
}

TEST_F(UsagePushTest, sends_again_what_changed_later) {
  count(1, -2, 5);
  count(2, -2, 6);
  clock_.set(kNoon + Seconds{10});
  const auto running = push();
  wait_done_to(0);
  count(2, -2, 9);
  wait([&] { return received_.size() == 3; });
  wait_for_looks(3);
  const std::lock_guard lock(store_.mutex);
  EXPECT_EQ(received_, (std::vector<Row>{{1, -2, 5}, {2, -2, 6}, {2, -2, 9}}));
}

TEST_F(UsagePushTest, goes_in_batches_and_goes_on_after_a_restart) {
  for (int user = 0; user < 10; ++user) count(user, -60, user);
  clock_.set(kNoon + Seconds{10});
  {
    const auto running = push(3);
    wait_done_to(0);
    const std::lock_guard lock(store_.mutex);
    EXPECT_EQ(received_.size(), 10U);
    EXPECT_EQ(requests_, 4);
  }
  count(1, 0, 4);
  clock_.set(kNoon + Seconds{70});
  const auto running = push(3);
  wait_done_to(1);
  const std::lock_guard lock(store_.mutex);
  EXPECT_EQ(received_.size(), 11U) << "what is long done is not read again";
}

TEST_F(UsagePushTest, repeats_what_was_not_taken_and_stays_where_it_is) {
  count(1, -2, 5);
  clock_.set(kNoon + Seconds{10});
  answer_ = Result<BulkAnswer>(std::unexpected(
      Error{.kind = ErrorKind::overloaded, .what = "429", .retry_after = Seconds{30}}));
  const auto running = push();
  wait([&] { return requests_ == 1; });
  look_at_the_clock(5);             // by then it has decided how long to wait
  clock_.set(kNoon + Seconds{39});  // longer than its own pause, shorter than asked for
  look_at_the_clock(5);
  {
    const std::lock_guard lock(store_.mutex);
    EXPECT_EQ(requests_, 1);
    EXPECT_FALSE(store_.done_to);
    answer_ = Result<BulkAnswer>(BulkAnswer{.rejected = {}, .again = 1});
  }
  clock_.set(kNoon + Seconds{41});
  wait([&] { return requests_ == 2; });
  look_at_the_clock(5);
  {
    const std::lock_guard lock(store_.mutex);
    EXPECT_FALSE(store_.done_to);
    answer_.reset();
  }
  clock_.set(kNoon + Seconds{200});
  wait([&] { return store_.done_to.has_value(); });
}

TEST_F(UsagePushTest, what_is_rejected_holds_nobody_up) {
  count(1, -2, 5);
  clock_.set(kNoon + Seconds{10});
  answer_ = Result<BulkAnswer>(BulkAnswer{.rejected = {"1: no"}, .again = 0});
  const auto running = push();
  wait_done_to(0);
  wait_for_looks(3);
  const std::lock_guard lock(store_.mutex);
  EXPECT_EQ(requests_, 1);
}

TEST_F(UsagePushTest, leaves_the_turn_of_another_node_alone) {
  count(1, -2, 5);
  clock_.set(kNoon + Seconds{10});
  store_.mine = false;
  const auto running = push();
  wait_for_looks(3);
  const std::lock_guard lock(store_.mutex);
  EXPECT_EQ(requests_, 0);
}

}  // namespace
}  // namespace penstock::service
