#include "runtime/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

namespace penstock::runtime {
namespace {

TEST(Ticker, works_again_and_again) {
  std::counting_semaphore<> worked(0);
  Ticker ticker("tick", Millis{1}, [&](const auto&) { worked.release(); });
  for (int i = 0; i < 3; ++i) worked.acquire();
}

TEST(Ticker, stops_at_once_while_it_waits) {
  Ticker ticker("tick", std::chrono::hours{1}, [](const auto&) { FAIL(); });
  ticker.stop();
  ticker.stop();
}

TEST(Ticker, tells_work_under_way_to_stop_and_waits_for_it) {
  std::binary_semaphore begun(0);
  std::atomic<bool> ended = false;
  Ticker ticker("tick", Millis{1}, [&](const auto& should_stop) {
    begun.release();
    while (!should_stop()) std::this_thread::yield();
    ended = true;
  });
  begun.acquire();
  ticker.stop();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace penstock::runtime
