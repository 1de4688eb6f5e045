#include "runtime/batcher.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <numeric>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace penstock::runtime {
namespace {

using Group = std::vector<int>;
using Texts = std::vector<std::string>;
using IntBatcher = Batcher<int, std::string>;

// Answers each number with its text, and holds batches back while the test prepares the next ones.
class Desk {
 public:
  IntBatcher::Execute execute() {
    return [this](std::span<int> commands) {
      std::unique_lock lock(mutex_);
      batches_.emplace_back(commands.begin(), commands.end());
      changed_.notify_all();
      changed_.wait(lock, [this] { return !held_; });
      Texts answers;
      for (const int command : commands) answers.push_back(std::to_string(command));
      return answers;
    };
  }

  void hold() { set_held(true); }
  void release() { set_held(false); }

  // Waits until `count` batches have reached the desk.
  void await_batches(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() >= count; });
  }

  std::vector<Group> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

 private:
  void set_held(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Group> batches_;  // guarded by mutex_
  bool held_ = false;           // guarded by mutex_
};

BatcherOptions batcher_options(std::size_t queue_max = 100, std::size_t batch_max = 100) {
  return {.name = "test", .queue_max = queue_max, .batch_max = batch_max};
}

// Submits and gives the answers to come.
std::future<Texts> send(IntBatcher& batcher, Group group) {
  std::promise<Texts> promise;
  std::future<Texts> future = promise.get_future();
  const bool taken =
      batcher.submit(std::move(group), [promise = std::move(promise)](Texts answers) mutable {
        promise.set_value(std::move(answers));
      });
  EXPECT_TRUE(taken);
  return future;
}

bool is_refused(IntBatcher& batcher, Group group) {
  return !batcher.submit(std::move(group), [](const Texts&) { ADD_FAILURE() << "answered"; });
}

TEST(Batcher, executes_a_lone_command_at_once) {
  Desk desk;
  IntBatcher batcher(batcher_options(), desk.execute());
  EXPECT_EQ(send(batcher, {1}).get(), (Texts{"1"}));
  EXPECT_EQ(send(batcher, {2}).get(), (Texts{"2"}));
  EXPECT_EQ(desk.batches(), (std::vector<Group>{{1}, {2}}));
}

TEST(Batcher, gathers_into_one_batch_what_arrives_while_it_is_busy) {
  Desk desk;
  IntBatcher batcher(batcher_options(), desk.execute());
  desk.hold();
  auto first = send(batcher, {1});
  desk.await_batches(1);
  auto second = send(batcher, {2});
  auto third = send(batcher, {3, 4});
  auto fourth = send(batcher, {5});
  EXPECT_EQ(batcher.waiting(), 4U);
  desk.release();
  EXPECT_EQ(first.get(), (Texts{"1"}));
  EXPECT_EQ(second.get(), (Texts{"2"}));
  EXPECT_EQ(third.get(), (Texts{"3", "4"}));
  EXPECT_EQ(fourth.get(), (Texts{"5"}));
  EXPECT_EQ(desk.batches(), (std::vector<Group>{{1}, {2, 3, 4, 5}}));
  EXPECT_EQ(batcher.waiting(), 0U);
}

TEST(Batcher, answers_the_groups_of_a_batch_in_their_order) {
  Desk desk;
  std::vector<int> answered;  // only touched by the batcher's one thread, then after stop()
  IntBatcher batcher(batcher_options(), desk.execute());
  desk.hold();
  auto first = send(batcher, {0});
  desk.await_batches(1);
  for (int i = 1; i <= 20; ++i) {
    EXPECT_TRUE(batcher.submit({i}, [&answered, i](const Texts&) { answered.push_back(i); }));
  }
  desk.release();
  batcher.stop();
  std::vector<int> expected(20);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(answered, expected);
}

TEST(Batcher, never_splits_a_group_and_fills_a_batch_up_to_its_maximum) {
  Desk desk;
  IntBatcher batcher(batcher_options(100, 4), desk.execute());
  desk.hold();
  std::vector<std::future<Texts>> answers;
  answers.push_back(send(batcher, {1}));
  desk.await_batches(1);
  for (Group group : {Group{2, 3}, Group{4, 5, 6}, Group{7}, Group{8}, Group{9, 10}}) {
    answers.push_back(send(batcher, std::move(group)));
  }
  desk.release();
  for (auto& answer : answers) answer.wait();
  EXPECT_EQ(desk.batches(), (std::vector<Group>{{1}, {2, 3}, {4, 5, 6, 7}, {8, 9, 10}}));
}

TEST(Batcher, executes_a_group_above_the_batch_maximum_on_its_own) {
  Desk desk;
  IntBatcher batcher(batcher_options(100, 3), desk.execute());
  desk.hold();
  auto first = send(batcher, {1});
  desk.await_batches(1);
  auto before = send(batcher, {2});
  auto large = send(batcher, {3, 4, 5, 6, 7});
  auto after = send(batcher, {8});
  desk.release();
  EXPECT_EQ(large.get(), (Texts{"3", "4", "5", "6", "7"}));
  after.wait();
  EXPECT_EQ(desk.batches(), (std::vector<Group>{{1}, {2}, {3, 4, 5, 6, 7}, {8}}));
}

TEST(Batcher, refuses_at_once_when_full_and_leaves_group_and_done_with_the_caller) {
  Desk desk;
  IntBatcher batcher(batcher_options(3), desk.execute());
  desk.hold();
  auto first = send(batcher, {1});
  desk.await_batches(1);
  auto second = send(batcher, {2, 3});

  Group group = {4, 5};
  Texts given;
  IntBatcher::Done done = [&given](Texts answers) { given = std::move(answers); };
  EXPECT_FALSE(batcher.submit(std::move(group), std::move(done)));
  EXPECT_EQ(group, (Group{4, 5}));
  done({"mine"});
  EXPECT_EQ(given, (Texts{"mine"}));

  auto third = send(batcher, {4});  // fills the last place
  EXPECT_EQ(batcher.waiting(), 3U);
  EXPECT_TRUE(is_refused(batcher, {6}));
  desk.release();
  third.wait();
  EXPECT_EQ(send(batcher, {7, 8}).get(), (Texts{"7", "8"}));
}

TEST(Batcher, takes_a_group_larger_than_the_queue_only_when_nothing_waits) {
  Desk desk;
  IntBatcher batcher(batcher_options(2), desk.execute());
  EXPECT_EQ(send(batcher, {1, 2, 3, 4}).get(), (Texts{"1", "2", "3", "4"}));
  desk.hold();
  auto busy = send(batcher, {5});
  desk.await_batches(2);
  auto waiting = send(batcher, {6});
  EXPECT_TRUE(is_refused(batcher, {7, 8, 9}));
  desk.release();
  waiting.wait();
}

TEST(Batcher, takes_a_huge_group) {
  Desk desk;
  IntBatcher batcher(batcher_options(10, 10), desk.execute());
  Group group(10'000);
  std::iota(group.begin(), group.end(), 0);
  const Texts answers = send(batcher, group).get();
  ASSERT_EQ(answers.size(), group.size());
  EXPECT_EQ(answers.back(), "9999");
  EXPECT_EQ(desk.batches(), (std::vector<Group>{group}));
}

TEST(Batcher, executes_what_it_took_when_stopped_and_refuses_the_rest) {
  Desk desk;
  std::atomic<int> taken = 0;
  std::atomic<int> answered = 0;
  IntBatcher batcher(batcher_options(1'000'000), desk.execute());
  desk.hold();
  const auto submit = [&] {
    const bool accepted = batcher.submit({1}, [&answered](const Texts&) { ++answered; });
    taken += accepted ? 1 : 0;
    return accepted;
  };
  ASSERT_TRUE(submit());
  desk.await_batches(1);
  ASSERT_TRUE(submit());
  ASSERT_TRUE(submit());
  std::jthread stopper([&batcher] { batcher.stop(); });
  while (submit()) std::this_thread::yield();  // a refusal says that the stop has begun
  EXPECT_EQ(answered, 0);
  desk.release();
  stopper.join();
  EXPECT_EQ(answered, taken);
  EXPECT_EQ(batcher.waiting(), 0U);
  EXPECT_TRUE(is_refused(batcher, {1}));
  batcher.stop();
}

TEST(Batcher, executes_what_it_took_when_destroyed) {
  Desk desk;
  std::future<Texts> first;
  std::future<Texts> second;
  {
    IntBatcher batcher(batcher_options(), desk.execute());
    first = send(batcher, {1});
    second = send(batcher, {2, 3});
  }
  EXPECT_EQ(first.get(), (Texts{"1"}));
  EXPECT_EQ(second.get(), (Texts{"2", "3"}));
}

TEST(Batcher, may_be_fed_from_an_answer) {
  Desk desk;
  std::promise<Texts> promise;
  IntBatcher batcher(batcher_options(), desk.execute());
  EXPECT_TRUE(batcher.submit({1}, [&](const Texts&) {
    EXPECT_TRUE(batcher.submit({2}, [&](Texts again) { promise.set_value(std::move(again)); }));
  }));
  EXPECT_EQ(promise.get_future().get(), (Texts{"2"}));
}

TEST(Batcher, lets_go_of_a_group_before_it_waits_for_the_next) {
  Desk desk;
  std::promise<void> gone;
  IntBatcher batcher(batcher_options(), desk.execute());
  // Whatever `done` owns goes away without another command having to come.
  auto on_release = std::shared_ptr<void>(nullptr, [&gone](void*) { gone.set_value(); });
  EXPECT_TRUE(batcher.submit({1}, [on_release = std::move(on_release)](const Texts&) {}));
  gone.get_future().wait();
}

TEST(Batcher, moves_commands_and_answers_that_cannot_be_copied) {
  using Box = std::unique_ptr<int>;
  std::latch busy(1);
  Batcher<Box, Box> batcher(batcher_options(), [&busy](std::span<Box> commands) {
    busy.wait();
    std::vector<Box> answers;
    for (Box& command : commands) answers.push_back(std::move(command));
    return answers;
  });
  std::vector<std::future<int>> sums;
  for (int i = 0; i < 10; ++i) {
    std::vector<Box> group;
    group.push_back(std::make_unique<int>(i));
    group.push_back(std::make_unique<int>(100 * i));
    std::promise<int> promise;
    sums.push_back(promise.get_future());
    EXPECT_TRUE(batcher.submit(std::move(group),
                               [promise = std::move(promise)](std::vector<Box> boxes) mutable {
                                 promise.set_value(*boxes.at(0) + *boxes.at(1));
                               }));
  }
  busy.count_down();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)].get(), 101 * i);
}

TEST(Batcher, executes_as_many_batches_at_once_as_it_has_workers) {
  std::latch both(2);
  Batcher<int, int> batcher({.name = "two", .workers = 2, .queue_max = 10, .batch_max = 1},
                            [&both](std::span<int> commands) {
                              both.arrive_and_wait();  // for ever, if only one worker came
                              return std::vector<int>(commands.begin(), commands.end());
                            });
  EXPECT_TRUE(batcher.submit({1}, [](const std::vector<int>&) {}));
  EXPECT_TRUE(batcher.submit({2}, [](const std::vector<int>&) {}));
  both.wait();
}

TEST(Batcher, names_its_threads_within_the_kernels_limit) {
  for (const auto& [name, shown] : std::vector<std::pair<std::string, std::string>>{
           {"slot-write", "slot-write"}, {"a-very-long-thread-name", "a-very-long-thr"}}) {
    Batcher<int, std::string> batcher({.name = name, .queue_max = 1, .batch_max = 1},
                                      [](std::span<int>) {
                                        char text[32] = {};
                                        pthread_getname_np(pthread_self(), text, sizeof text);
                                        return Texts{text};
                                      });
    EXPECT_EQ(send(batcher, {1}).get(), (Texts{shown}));
  }
}

void answer_too_few() {
  Batcher<int, int> batcher(batcher_options(), [](std::span<int>) { return std::vector<int>{}; });
  EXPECT_TRUE(batcher.submit({1}, [](const std::vector<int>&) {}));
}

TEST(BatcherDeathTest, stops_the_process_when_answers_are_missing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(answer_too_few(), "answers.size\\(\\)");
}

// Sizes of the batches when three commands arrive one by one beside one in execution.
std::vector<std::size_t> sizes_beside_one(std::size_t join_min) {
  std::counting_semaphore<> begun(0);
  std::counting_semaphore<> go(0);
  std::mutex mutex;
  std::vector<std::size_t> sizes;
  Batcher<int, int> batcher(
      {.name = "join", .workers = 2, .join_min = join_min, .queue_max = 100, .batch_max = 100},
      [&](std::span<int> commands) {
        {
          const std::lock_guard lock(mutex);
          sizes.push_back(commands.size());
        }
        begun.release();
        go.acquire();
        return std::vector<int>(commands.begin(), commands.end());
      });
  const auto submit = [&] { EXPECT_TRUE(batcher.submit({1}, [](std::vector<int>) {})); };
  submit();
  begun.acquire();  // the first is in execution
  for (int i = 0; i < 3; ++i) {
    submit();
    std::this_thread::yield();  // a chance for a worker that should not take it
  }
  begun.acquire();  // another one, beside it
  go.release(10);
  batcher.stop();
  return sizes;
}

TEST(Batcher, joins_a_batch_in_execution_only_with_enough_commands) {
  for (int round = 0; round < 300; ++round) {  // a wrong join needs luck to show
    ASSERT_EQ(sizes_beside_one(3), (std::vector<std::size_t>{1, 3}));
  }
}

TEST(Batcher, a_batch_that_throws_fails_its_commands_and_no_others) {
  using Answers = std::vector<Result<int>>;
  Batcher<int, Result<int>> batcher({.name = "test", .queue_max = 10, .batch_max = 10},
                                    [](std::span<int> commands) {
                                      if (commands.front() < 0) throw std::bad_alloc();
                                      return Answers(commands.begin(), commands.end());
                                    });
  const auto ask = [&](int command) {
    std::promise<Answers> promise;
    auto future = promise.get_future();
    EXPECT_TRUE(batcher.submit({command}, [&](Answers given) { promise.set_value(given); }));
    return future.get().front();
  };
  const Result<int> failed = ask(-1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(ask(7), 7);
}

TEST(Batcher, a_done_that_throws_is_dropped_alone) {
  Batcher<int, int> batcher(
      {.name = "test", .queue_max = 10, .batch_max = 10},
      [](std::span<int> commands) { return std::vector<int>(commands.begin(), commands.end()); });
  EXPECT_TRUE(batcher.submit({1}, [](std::vector<int>) { throw std::bad_alloc(); }));
  std::promise<int> promise;
  EXPECT_TRUE(
      batcher.submit({2}, [&](std::vector<int> answers) { promise.set_value(answers.front()); }));
  EXPECT_EQ(promise.get_future().get(), 2);
}

// Whoever submitted them gives their memory back in `done`.
TEST(Batcher, commands_are_gone_when_their_answers_come) {
  using Shared = std::shared_ptr<int>;
  Batcher<Shared, int> batcher(
      {.name = "test", .queue_max = 10, .batch_max = 10},
      [](std::span<Shared> commands) { return std::vector<int>(commands.size()); });
  for (int round = 0; round < 50; ++round) {
    Shared first = std::make_shared<int>(1);
    Shared second = std::make_shared<int>(2);
    const std::weak_ptr<int> left[] = {first, second};
    std::latch done(2);
    const auto check = [&](std::size_t i) {
      return [&, i](const std::vector<int>&) {
        EXPECT_TRUE(left[i].expired());
        done.count_down();
      };
    };
    std::vector<Shared> one, two;
    one.push_back(std::move(first));
    two.push_back(std::move(second));
    ASSERT_TRUE(batcher.submit(std::move(one), check(0)));
    ASSERT_TRUE(batcher.submit(std::move(two), check(1)));
    done.wait();
  }
}

}  // namespace
}  // namespace penstock::runtime
