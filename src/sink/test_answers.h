// For tests: the answers that a sink gives.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sink/sink.h"

namespace penstock::sink {

// Answers as they come. Outlives the sink that it is used with.
class Answers {
 public:
  Sink::Done taker() {
    return [this](SinkAnswer answer) {
      const std::lock_guard lock(mutex_);
      answers_.push_back(std::move(answer));
      changed_.notify_all();
    };
  }
  // All so far, when there are that many or after 30 s.
  std::vector<SinkAnswer> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30),
                                  [&] { return answers_.size() >= count; }));
    EXPECT_LE(answers_.size(), count);
    return answers_;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return answers_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<SinkAnswer> answers_;  // guarded by mutex_
};

// "done", "failed: HTTP 500" and so on, with the pause when there is one.
inline std::string told(const SinkAnswer& answer) {
  constexpr std::string_view kNames[] = {"done", "failed", "refused", "slow_down", "late"};
  std::string out(kNames[static_cast<std::size_t>(answer.outcome)]);
  out += ": " + answer.detail;
  if (answer.pause) out += " " + std::to_string(answer.pause->count());
  return out;
}

}  // namespace penstock::sink
