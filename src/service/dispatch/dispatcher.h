// Dispatches one item type: a thread that asks its board what to do, has others do it, and sends
// when the board says so. Makes no decision of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/board.h"
#include "runtime/memory_budget.h"
#include "runtime/metrics.h"
#include "runtime/task_queue.h"
#include "service/dispatch/item_types.h"
#include "sink/sink.h"
#include "store/queue/ports.h"

namespace penstock::service {

// What one item type counts. Names are the predecessor's where it has one.
struct DispatchMetrics {
  DispatchMetrics(runtime::Metrics& metrics, const ItemType& type);

  runtime::Counter& claimed;
  runtime::Counter& started;
  runtime::Counter& failures;
  runtime::Counter& slow_downs;
  runtime::Counter& late_turns;
  runtime::Histogram& cycle;
  runtime::Histogram& lateness;
  runtime::Gauge& pace_used;
  runtime::Gauge& paused;
  runtime::Gauge& lease_held;
};

// What dispatchers share. All must outlive them.
struct DispatcherParts {
  using MakeSink = std::function<Result<std::unique_ptr<sink::Sink>>(const ItemType&,
                                                                     const core::SinkSettings&)>;
  // `invalid` when there is no such sink on this node.
  using JudgeSink = std::function<Result<core::SinkTraits>(const core::SinkSettings&)>;

  std::string node;  // one life of one process
  store::QueueStore& queue;
  store::LeaseStore& leases;
  const ItemTypes& types;
  MakeSink make_sink;
  JudgeSink judge_sink;
  const Clock& wall;
  const Clock& steady;  // never set, never stands still
  Log& log;
  runtime::Metrics& metrics;
  runtime::TaskQueue& workers;    // claims and settles
  runtime::TaskQueue& renewals;   // leases: apart, so that no slow claim costs one
  runtime::MemoryBudget& memory;  // of what is claimed, until it is settled
};

class Dispatcher {
 public:
  Dispatcher(const DispatcherParts& parts, ItemType type, std::uint64_t seed);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  ~Dispatcher();  // stops and waits

  // There may be items due sooner than was known, or settings changed.
  void wake();
  // Begins to give back what is held; the destructor waits for it.
  void stop();

  // Hand-overs of the last whole second that had any, and when it was; for predictions.
  double recent_rate() const noexcept { return recent_rate_.load(std::memory_order_relaxed); }

 private:
  // A sink in use or retired: it lives until all its answers have come.
  struct ActiveSink {
    std::unique_ptr<sink::Sink> sink;
    core::SinkSettings settings;
    std::size_t under_way = 0;  // of the dispatcher's thread
  };

  struct LeaseAnswer {
    Result<std::optional<store::Lease>> lease;
    Instant asked{};
  };
  struct ClaimAnswer {
    Result<store::Claim> claim;
    std::size_t limit = 0;
    Instant asked{};
    runtime::Charge charge = {};  // until the board counts the items
  };
  struct SettleAnswer {
    bool worked = false;
    std::vector<store::Settlement> items;
  };
  struct SinkReport {
    ItemId id;
    std::string batch_id;
    int retry_count = 0;
    Instant scheduled{};
    Instant taken{};
    sink::SinkAnswer answer;
    ActiveSink* from = nullptr;
  };
  struct News {};
  using Event = std::variant<News, LeaseAnswer, ClaimAnswer, SettleAnswer, SinkReport>;

  void run();
  void post(Event&& event);
  void apply(std::vector<Event>& events, Instant now);
  void on(News&&, Instant) { board_.on_news(); }
  void on(LeaseAnswer&& answer, Instant now);
  void on(ClaimAnswer&& answer, Instant now);
  void on(SettleAnswer&& answer, Instant now);
  void on(SinkReport&& report, Instant now);

  void ask_lease(Instant now);
  void claim(std::size_t limit, Instant now);
  void settle(std::vector<store::Settlement>&& items);
  void send_all(Instant& look_again);
  void send(core::DispatchBoard::Sending&& sending, Instant now);
  void submit(runtime::TaskQueue& queue, runtime::TaskQueue::Task&& task, Event&& refused);

  const core::ItemTypeSettings& settings();
  core::SinkTraits traits() const;  // of the sink of record_
  ActiveSink* sink();               // for the settings in force; null when it cannot be made
  void forget_idle_sinks();
  void count_pace(Instant now);
  Instant steady_now();

  DispatcherParts parts_;
  const ItemType type_;
  DispatchMetrics metrics_;
  std::atomic<double> recent_rate_{0};

  // Of the thread alone.
  core::DispatchBoard board_;
  ItemTypes::Record record_;
  std::uint64_t stamp_ = 0;
  core::SinkTraits traits_;
  std::vector<std::unique_ptr<ActiveSink>> sinks_;  // the last one is in use
  std::optional<core::SinkSettings> refused_sink_;  // logged once
  struct Cycle {
    Instant asked{};
    std::size_t open = 0;
  };
  std::unordered_map<std::string, Cycle> cycles_;  // by batch id
  Instant rate_since_{};
  std::uint64_t rate_count_ = 0;
  std::size_t tasks_ = 0;      // calls of the store whose answers have not been applied
  bool store_failed_ = false;  // logged once per outage
  runtime::Charge charge_;     // for all that the board counts

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Event> inbox_;  // guarded by mutex_
  bool waiting_ = false;      // guarded by mutex_
  bool stopping_ = false;     // guarded by mutex_

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace penstock::service
