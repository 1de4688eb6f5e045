#include "runtime/task_queue.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace penstock::runtime {
namespace {

TaskQueueOptions queue_options(std::size_t threads, std::size_t queue_max) {
  return {.name = "test", .threads = threads, .queue_max = queue_max};
}

// Occupies one thread of a queue until released. Like all that tasks refer to in these tests, it is
// declared before the queue, whose end waits for the tasks.
class Blocker {
 public:
  void occupy(TaskQueue& queue) {
    EXPECT_TRUE(queue.submit([this] {
      begun_.count_down();
      release_.wait();
    }));
    begun_.wait();
  }
  void release() { release_.count_down(); }

 private:
  std::latch begun_{1};
  std::latch release_{1};
};

TEST(TaskQueue, runs_a_task_on_its_own_named_thread) {
  std::promise<std::string> promise;
  TaskQueue queue({.name = "slot-read", .threads = 1, .queue_max = 1});
  EXPECT_TRUE(queue.submit([&promise] {
    char text[32] = {};
    pthread_getname_np(pthread_self(), text, sizeof text);
    promise.set_value(text);
  }));
  EXPECT_EQ(promise.get_future().get(), "slot-read");
}

TEST(TaskQueue, runs_tasks_in_order_on_one_thread) {
  std::vector<int> ran;
  TaskQueue queue(queue_options(1, 100));
  for (int i = 0; i < 100; ++i) {
    while (!queue.submit([&ran, i] { ran.push_back(i); })) std::this_thread::yield();
  }
  queue.stop();
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(ran, expected);
}

TEST(TaskQueue, runs_as_many_tasks_at_once_as_it_has_threads) {
  std::latch all(3);
  TaskQueue queue(queue_options(3, 3));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.submit([&all] { all.arrive_and_wait(); }));
  all.wait();
}

TEST(TaskQueue, refuses_at_once_when_full_and_leaves_the_task_with_the_caller) {
  Blocker blocker;
  std::promise<void> last;
  TaskQueue queue(queue_options(1, 2));
  blocker.occupy(queue);
  EXPECT_TRUE(queue.submit([] {}));
  EXPECT_TRUE(queue.submit([&last] { last.set_value(); }));

  int ran = 0;
  TaskQueue::Task task = [&ran] { ++ran; };
  EXPECT_FALSE(queue.submit(std::move(task)));
  task();
  EXPECT_EQ(ran, 1);

  blocker.release();
  last.get_future().wait();
  EXPECT_TRUE(queue.submit([] {}));
}

TEST(TaskQueue, runs_what_it_took_when_stopped_and_refuses_the_rest) {
  Blocker blocker;
  std::atomic<int> taken = 0;
  std::atomic<int> ran = 0;
  TaskQueue queue(queue_options(1, 1'000'000));
  blocker.occupy(queue);
  const auto submit = [&] {
    const bool accepted = queue.submit([&ran] { ++ran; });
    taken += accepted ? 1 : 0;
    return accepted;
  };
  ASSERT_TRUE(submit());
  std::jthread stopper([&queue] { queue.stop(); });
  while (submit()) std::this_thread::yield();  // a refusal says that the stop has begun
  EXPECT_EQ(ran, 0);
  blocker.release();
  stopper.join();
  EXPECT_EQ(ran, taken);
  EXPECT_FALSE(queue.submit([] {}));
  queue.stop();
}

TEST(TaskQueue, runs_what_it_took_when_destroyed) {
  std::atomic<int> ran = 0;
  {
    TaskQueue queue(queue_options(2, 100));
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(queue.submit([&ran] { ++ran; }));
  }
  EXPECT_EQ(ran, 50);
}

TEST(TaskQueue, may_be_fed_from_a_task) {
  std::promise<void> promise;
  TaskQueue queue(queue_options(1, 1));
  EXPECT_TRUE(queue.submit([&] { EXPECT_TRUE(queue.submit([&] { promise.set_value(); })); }));
  promise.get_future().wait();
}

TEST(TaskQueue, lets_go_of_a_task_before_it_waits_for_the_next) {
  std::promise<void> gone;
  TaskQueue queue(queue_options(1, 1));
  auto on_release = std::shared_ptr<void>(nullptr, [&gone](void*) { gone.set_value(); });
  EXPECT_TRUE(queue.submit([on_release = std::move(on_release)] {}));
  gone.get_future().wait();
}

TEST(TaskQueue, runs_each_task_of_many_callers_exactly_once) {
  constexpr std::size_t kCallers = 8;
  constexpr std::size_t kTasks = 500;
  std::vector<std::atomic<int>> ran(kCallers * kTasks);
  TaskQueue queue(queue_options(3, 32));
  {
    std::vector<std::jthread> callers;
    for (std::size_t c = 0; c < kCallers; ++c) {
      callers.emplace_back([&, c] {
        for (std::size_t i = 0; i < kTasks; ++i) {
          TaskQueue::Task task = [&times = ran[c * kTasks + i]] { ++times; };
          while (!queue.submit(std::move(task))) std::this_thread::yield();
        }
      });
    }
  }
  queue.stop();
  EXPECT_TRUE(std::ranges::all_of(ran, [](const auto& times) { return times == 1; }));
}

}  // namespace
}  // namespace penstock::runtime
