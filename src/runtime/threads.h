// Threads that have a name, and one that does the same work again and again.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/time.h"

namespace penstock::runtime {

// Names the calling thread for top, gdb and perf.
void set_thread_name(const std::string& name) noexcept;

// One thread that does the same work again and again, an interval apart. The work must not throw.
class Ticker {
 public:
  // Works first after one interval, then an interval after the work before has ended. A long work
  // asks its argument now and then whether it is to end.
  using Work = std::function<void(const std::function<bool()>& should_stop)>;

  Ticker(std::string name, Millis interval, Work work);
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;
  ~Ticker() { stop(); }

  // Waits for work under way. Idempotent.
  void stop();

 private:
  void run();
  bool stopping();

  const std::string name_;
  const Millis interval_;
  const Work work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;     // last: it uses all of the above
};

}  // namespace penstock::runtime
