#include "runtime/ticker.h"

#include <utility>

#include "runtime/thread_name.h"

namespace penstock::runtime {

Ticker::Ticker(std::string name, Millis interval, Work work)
    : name_(std::move(name)),
      interval_(interval),
      work_(std::move(work)),
      thread_([this] { run(); }) {}

void Ticker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Ticker::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Ticker::run() {
  set_thread_name(name_);
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, interval_, [this] { return stopping_; })) return;
    }
    work_([this] { return stopping(); });
  }
}

}  // namespace penstock::runtime
