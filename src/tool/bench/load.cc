#include "tool/bench/load.h"

#include <sys/resource.h>

#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/clocks.h"
#include "runtime/threads.h"
#include "runtime/tick_clock.h"
#include "tool/bench/worker.h"

namespace penstock::tool::bench {
namespace {

constexpr std::chrono::milliseconds kProgressEvery{50};  // at Ctrl-C, and for the progress line
constexpr rlim_t kOtherFiles = 64;                       // that a process has open besides

// A shell's usual 1,024 open files are fewer than the connections that may be asked for.
void allow_files(std::size_t connections) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, std::max(limit.rlim_cur, connections + kOtherFiles));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

LoadOutcome run_load(const Plan& plan, const std::atomic<bool>& interrupted,
                     const std::function<void(const LoadProgress&)>& on_progress) {
  allow_files(plan.connections);
  const auto live = std::make_unique<LiveCounts[]>(plan.threads);
  std::vector<std::unique_ptr<Worker>> workers;
  workers.reserve(plan.threads);
  for (std::size_t i = 0; i < plan.threads; ++i) {
    workers.push_back(std::make_unique<Worker>(plan, i, interrupted, live[i]));
  }
  Micros start{0};  // written by the barrier, before anybody passes it
  std::barrier all_connected(static_cast<std::ptrdiff_t>(plan.threads),
                             [&start]() noexcept { start = runtime::tick_micros(); });
  std::mutex mutex;
  std::condition_variable one_ended;
  std::size_t running = plan.threads;  // guarded by mutex
  std::vector<std::jthread> threads;
  threads.reserve(plan.threads);
  for (std::size_t i = 0; i < plan.threads; ++i) {
    threads.emplace_back([&, i] {
      runtime::set_thread_name("bench");
      workers[i]->connect_all();
      all_connected.arrive_and_wait();
      workers[i]->run(start);
      const std::lock_guard lock(mutex);
      --running;
      one_ended.notify_one();
    });
  }
  const runtime::Stopwatch watch;
  std::unique_lock lock(mutex);
  while (running > 0) {
    one_ended.wait_for(lock, kProgressEvery);
    LoadProgress progress{.seconds = watch.seconds()};
    for (std::size_t i = 0; i < plan.threads; ++i) {
      progress.answers += live[i].answers.load(std::memory_order_relaxed);
      progress.errors += live[i].errors.load(std::memory_order_relaxed);
    }
    lock.unlock();
    on_progress(progress);
    lock.lock();
  }
  lock.unlock();
  threads.clear();

  LoadOutcome outcome;
  Micros ended = start;
  for (const std::unique_ptr<Worker>& worker : workers) {
    outcome.tally.add(worker->tally());
    ended = std::max(ended, worker->ended());
  }
  outcome.seconds = std::chrono::duration<double>(ended - start).count();
  return outcome;
}

}  // namespace penstock::tool::bench
