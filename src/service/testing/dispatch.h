// A dispatch service on stores in memory and a downstream in memory, for tests. Real clocks.
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "service/dispatch/dispatch_service.h"
#include "service/testing/answer.h"
#include "store/queue/conformance/item_type_model.h"
#include "store/queue/conformance/queue_model.h"

namespace penstock::service {

// What arrived, and what is answered. Thread-safe.
class TestDownstream {
 public:
  using Answer = std::function<sink::SinkAnswer(const sink::Handover&)>;

  void set_answer(Answer answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  sink::SinkAnswer take(const sink::Handover& item) {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(item.id.str());
    changed_.notify_all();
    return answer_ ? answer_(item) : sink::SinkAnswer{};
  }
  // Called when a sink ends: it may have answers under way until then.
  void set_end(std::function<void()> end) {
    const std::lock_guard lock(mutex_);
    end_ = std::move(end);
  }
  void end() const {
    const std::lock_guard lock(mutex_);
    if (end_) end_();
  }
  // Waits until so many have arrived; a test that waits for longer than a minute has failed.
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes{1},
                             [&] { return arrived_.size() >= count; });
  }
  std::vector<std::string> arrived() const {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> arrived_;  // guarded by mutex_
  Answer answer_;                     // guarded by mutex_
  std::function<void()> end_;         // guarded by mutex_
};

class TestSink final : public sink::Sink {
 public:
  explicit TestSink(TestDownstream& downstream) : downstream_(downstream) {}
  ~TestSink() override { downstream_.end(); }
  void send(sink::Handover&& item, Done done) override { done(downstream_.take(item)); }

 private:
  TestDownstream& downstream_;
};

// A kind of sink for calls that name one.
struct TestHook {
  std::string url;
  std::vector<std::string> secrets;
};

}  // namespace penstock::service

template <>
struct penstock::Description<penstock::service::TestHook> {
  using Hook = penstock::service::TestHook;
  static constexpr std::string_view name = "TestHook";
  static constexpr std::array fields = {
      place(required(range(field<&Hook::url>("url", "Where to."), 1, 100))),
      secret(each(field<&Hook::secrets>("secrets", "Sign."), 5, 1, 100))};
};

namespace penstock::service {

inline constexpr std::array<KindInfo, 1> kTestSinks = {{{"http", &describe<TestHook>()}}};

// What nodes share.
struct TestDispatchStores {
  runtime::SystemClock wall;
  store::conformance::QueueModel queue{wall};
  store::conformance::ItemTypeModel types;
  TestDownstream downstream;
};

// One node.
struct TestDispatch {
  explicit TestDispatch(TestDispatchStores& shared, std::string name = "node",
                        store::RetentionClock* retention_clock = nullptr) {
    DispatchOptions options;
    if (retention_clock != nullptr) options.dispatchers.retention_interval = Millis{1};
    options.owned = {{.type = ItemType::trusted("OWNED"),
                      .owner = "a domain",
                      .create = "POST /domain",
                      .cancel = "POST /domain/{id}/cancel",
                      .redrive = "POST /domain/{id}/redrive"}};
    options.dispatchers.node = std::move(name);
    auto started = DispatchService::start(
        options,
        {.queue = shared.queue,
         .leases = shared.queue,
         .types = shared.types,
         .feed = nullptr,
         .news = &news,
         .slot_life = nullptr,
         .make_sink = [&shared](const ItemType&, const core::SinkSettings& settings)
             -> Result<std::unique_ptr<sink::Sink>> {
           if (settings.kind == "away") {
             return fail(ErrorKind::unavailable, "no broker");
           }
           return std::make_unique<TestSink>(shared.downstream);
         },
         .judge_sink = [this](const core::SinkSettings& settings) -> Result<core::SinkTraits> {
           if (settings.kind != "fax" || has_extension) return core::SinkTraits{};
           return invalid_field("sink.type", "is not compiled in");
         },
         .sink_kinds = kTestSinks,
         .wall = shared.wall,
         .steady = steady,
         .memory = memory,
         .retention_clock = retention_clock},
        log, metrics);
    service = std::move(*started);
  }

  // Calls a method of the service and waits for its answer.
  template <class T, class Method, class... Args>
  Result<T> call(Method method, Args&&... args) {
    return answer_of<Result<T>>(
        [&](auto done) { ((*service).*method)(std::forward<Args>(args)..., std::move(done)); });
  }
  DispatchService::Taken enqueue(std::vector<core::ItemCall> calls) {
    return answer_of<DispatchService::Taken>(
        [&](auto done) { service->enqueue(std::move(calls), "req", std::move(done)); });
  }
  Result<store::ItemTypeRecord> put_type(const ItemType& type,
                                         const core::ItemTypeSettings& settings) {
    return call<store::ItemTypeRecord>(
        &DispatchService::change_type, type,
        [settings](const auto&) -> Result<core::ItemTypeSettings> { return settings; }, "req");
  }

  std::atomic<bool> has_extension = true;
  runtime::SystemClock clock;
  runtime::SteadyWallClock steady;
  Log log{clock, STDERR_FILENO, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics;
  runtime::MemoryBudget memory{std::size_t{64} << 20, metrics};
  ItemNews news;
  std::unique_ptr<DispatchService> service;
};

}  // namespace penstock::service
