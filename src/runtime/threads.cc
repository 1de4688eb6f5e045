#include "runtime/threads.h"

#include <pthread.h>

#include <utility>

namespace penstock::runtime {

void set_thread_name(const std::string& name) noexcept {
  constexpr std::size_t kNameMax = 15;  // the kernel's limit
  pthread_setname_np(pthread_self(), name.substr(0, kNameMax).c_str());
}

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
