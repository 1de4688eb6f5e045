#include "service/throttle/engine_watch.h"

#include <fmt/format.h>

#include <utility>

#include "runtime/threads.h"

namespace penstock::service {

EngineWatch::EngineWatch(EngineWatchOptions options, store::NodeRegistry& nodes, Log& log,
                         runtime::Metrics& metrics)
    : options_(std::move(options)),
      nodes_(nodes),
      log_(log),
      up_(metrics.gauge("penstock_engine_up", "1 while the shared engine of throttle answers")),
      outages_(metrics.counter("penstock_engine_outages_total",
                               "How often the shared engine of throttle was given up for a while")),
      backoff_(options_.seed) {
  up_.set(1);
  metrics.gauge_function("penstock_nodes_alive",
                         "Nodes that share the engine, counted when it last answered",
                         [this] { return static_cast<double>(this->nodes()); });
}

void EngineWatch::start(OnReturn on_return) {
  on_return_ = std::move(on_return);
  thread_ = std::thread([this] { run(); });
}

void EngineWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  if (usable()) (void)nodes_.leave(options_.node);  // else they forget it by themselves
}

Error EngineWatch::away() const {
  const std::lock_guard lock(mutex_);
  return {.kind = ErrorKind::unavailable,
          .what = fmt::format("{} is away: {}", options_.engine, last_problem_)};
}

void EngineWatch::failed(const Error& error) {
  if (failures_.fetch_add(1) + 1 < kFailuresMax) return;
  open(error);
}

void EngineWatch::open(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    last_problem_ = error.what;
    if (!usable_.exchange(false)) return;
    opened_ = true;
  }
  up_.set(0);
  outages_.add();
  log_.warn("engine.away",
            {{"engine", options_.engine}, {"nodes", nodes()}, {"error", error.what}});
  wake_.notify_all();
}

void EngineWatch::run() {
  runtime::set_thread_name("engine-watch");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    beat();
    lock.lock();
    const Millis pause = usable() ? options_.beat_interval : backoff_.next();
    // Woken when the breaker opens, so that the first probe comes soon and not at the next beat.
    wake_.wait_for(lock, pause, [this] { return stopping_ || opened_; });
    if (std::exchange(opened_, false) && !stopping_) {
      wake_.wait_for(lock, backoff_.next(), [this] { return stopping_; });
    }
  }
}

void EngineWatch::beat() {
  const Result<std::size_t> alive = nodes_.beat(options_.node, options_.alive_within);
  if (!alive) return failed(alive.error());
  if (usable()) {
    nodes_alive_.store(*alive);
    backoff_.reset();
    return;
  }
  if (Result<void> ready = on_return_ ? on_return_() : Result<void>{}; !ready) {
    return failed(ready.error());
  }
  failures_.store(0);
  // The count stays that of before the outage until the next beat: by then all nodes are back.
  usable_.store(true);
  up_.set(1);
  log_.info("engine.back", {{"engine", options_.engine}, {"nodes", *alive}});
}

}  // namespace penstock::service
