// The dispatchers of this node, one for each item type, and what goes on beside them: the settings
// are read again, old items are forgotten, the depth of the queues is looked up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"
#include "runtime/memory_budget.h"
#include "runtime/metrics.h"
#include "runtime/task_queue.h"
#include "runtime/threads.h"
#include "service/dispatch/dispatcher.h"
#include "service/dispatch/item_types.h"
#include "service/item_news.h"
#include "store/queue/ports.h"
#include "store/retention_clock.h"
#include "store/slots/ports.h"

namespace penstock::service {

struct DispatchersOptions {
  std::string node;  // one life of one process
  std::size_t workers = 2;
  Millis id_retention = std::chrono::days{90};
  std::map<ItemType, Millis> id_retention_of = {};  // of types whose items are known otherwise long
  Millis retention_interval = std::chrono::minutes{1};
  std::uint64_t seed = 0;
};

// All must outlive the dispatchers. `feed` is null when no other node shares the store.
struct DispatchPorts {
  store::QueueStore& queue;
  store::LeaseStore& leases;
  store::ItemTypeStore& types;
  store::ItemFeed* feed = nullptr;
  ItemNews* news = nullptr;              // null = nobody else takes items in
  store::SlotLife* slot_life = nullptr;  // null = items have no slots that could be given back
  DispatcherParts::MakeSink make_sink;
  // Asked before settings count, too; null = every sink can be made.
  DispatcherParts::JudgeSink judge_sink = {};
  Kinds sink_kinds = {};  // how their settings are read and shown
  const Clock& wall;
  const Clock& steady;
  runtime::MemoryBudget& memory;
  store::RetentionClock* retention_clock = nullptr;  // null = by `wall` alone
};

class Dispatchers {
 public:
  Dispatchers(DispatchersOptions options, const DispatchPorts& ports, ItemTypes& types, Log& log,
              runtime::Metrics& metrics);
  ~Dispatchers() { stop(); }

  // Makes dispatchers for item types that have none.
  void follow_types();
  // There may be items due sooner than was known; nothing = of any type.
  void wake(const std::optional<ItemType>& type);
  // Hand-overs in the last second on this node.
  double recent_rate(const ItemType& type) const;

  // Gives back what is held and waits for what is under way. Idempotent.
  void stop();

 private:
  struct Entry {
    std::unique_ptr<Dispatcher> dispatcher;
    std::array<runtime::Gauge*, core::kItemStates> depths{};  // by ItemState
  };

  void refresh();
  void look_at_depths();
  void forget_old(const std::function<bool()>& should_stop);
  void add(const ItemType& type);  // under mutex_

  const DispatchersOptions options_;
  DispatchPorts ports_;
  ItemTypes& types_;
  Log& log_;
  runtime::Metrics& metrics_;
  runtime::Counter& forgotten_;
  runtime::TaskQueue workers_;
  runtime::TaskQueue renewals_;
  DispatcherParts parts_;

  mutable std::mutex mutex_;
  std::map<ItemType, Entry> entries_;  // guarded by mutex_; only grows until stop()
  Rng rng_;                            // guarded by mutex_
  bool stopped_ = false;               // guarded by mutex_
  std::atomic<bool> refresh_failed_{false};

  runtime::Ticker refresh_ticker_;  // last: their threads use all of the above
  runtime::Ticker depth_ticker_;
  runtime::Ticker retention_ticker_;
};

}  // namespace penstock::service
