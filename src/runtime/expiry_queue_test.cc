#include "runtime/expiry_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <vector>

namespace penstock::runtime {
namespace {

bool never(const int&) { return false; }

TEST(ExpiryQueue, tells_in_the_order_of_adding_and_not_too_early) {
  std::vector<int> told;
  std::promise<double> last;
  const Stopwatch watch;
  ExpiryQueue<int> queue("expiry", Millis{20}, never, [&](int& entry) {
    told.push_back(entry);
    if (entry == 99) last.set_value(watch.seconds());
  });
  for (int i = 0; i < 100; ++i) queue.add(i);
  EXPECT_GE(last.get_future().get(), 0.019);
  queue.stop();
  ASSERT_EQ(told.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(told[static_cast<std::size_t>(i)], i);
}

TEST(ExpiryQueue, works_again_after_it_ran_empty) {
  std::promise<void> told[2];
  ExpiryQueue<int> queue("expiry", Millis{1}, never, [&](int& entry) { told[entry].set_value(); });
  queue.add(0);
  told[0].get_future().wait();
  queue.add(1);
  told[1].get_future().wait();
}

TEST(ExpiryQueue, tells_nothing_once_stopped) {
  int told = 0;
  ExpiryQueue<int> queue("expiry", std::chrono::hours{1}, never, [&](int&) { ++told; });
  queue.add(1);
  queue.stop();
  queue.stop();
  EXPECT_EQ(told, 0);
}

TEST(ExpiryQueue, lets_go_of_what_is_over_long_before_it_expires) {
  using Entry = std::shared_ptr<std::atomic<bool>>;
  int told = 0;
  ExpiryQueue<Entry> queue(
      "expiry", std::chrono::hours{1}, [](const Entry& entry) { return entry->load(); },
      [&](Entry&) { ++told; });
  std::vector<std::weak_ptr<std::atomic<bool>>> all;
  for (int i = 0; i < 100; ++i) {
    auto entry = std::make_shared<std::atomic<bool>>(false);
    all.push_back(entry);
    queue.add(entry);
    entry->store(true);
  }
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& each) { return !each.expired(); }), 1);
  queue.stop();
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace penstock::runtime
