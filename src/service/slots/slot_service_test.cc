// Assigning slots: what reaches the store, what comes back, and what is counted and logged.
#include "service/slots/slot_service.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/test_instants.h"

namespace penstock::service {
namespace {

// Knows one config, "default", unless it is told to fail.
class DefaultConfigOnly final : public store::SlotConfigStore {
 public:
  Result<std::optional<core::SlotConfig>> find(const ConfigName& name) override {
    ++finds;
    if (error) return std::unexpected(*error);
    if (name.str() != "default") return std::nullopt;
    return core::SlotConfig{.name = name,
                            .max_per_window = 10,
                            .window_size = Seconds{4},
                            .version = 1,
                            .active = true};
  }
  Result<store::SlotConfigChange> put(const core::SlotConfigDraft&,
                                      std::optional<Instant>) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<std::vector<core::SlotConfig>> history(const ConfigName&, std::size_t) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<std::vector<core::SlotConfig>> list(const ConfigName&, std::size_t) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }

  std::optional<Error> error;  // set before the service is used
  std::atomic<int> finds = 0;
};

// Slots in memory: each event one second after it asked, until `room` is used up. Can be held, so
// that a test may fill the queue behind it.
class FakeSlots final : public store::SlotStore {
 public:
  std::vector<Result<store::Assignment>> assign(std::span<const store::SlotRequest> requests,
                                                std::optional<Instant> now) override {
    std::unique_lock lock(mutex_);
    EXPECT_EQ(now, std::nullopt) << "the store's own clock decides";
    batches_.emplace_back(requests.begin(), requests.end());
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_; });
    std::vector<Result<store::Assignment>> answers;
    for (const store::SlotRequest& request : requests) answers.push_back(assign_one(request));
    return answers;
  }
  Result<std::vector<std::optional<store::Slot>>> find(std::span<const EventId>) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<std::vector<store::WindowUse>> windows(const store::WindowRange&) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<std::vector<store::Slot>> scan(const EventId&, std::size_t) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }

  void set_held(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  void await_batches(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() >= count; });
  }
  std::vector<std::vector<store::SlotRequest>> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

  // Set before the service is used.
  std::optional<Error> error;
  std::size_t room = 1'000'000;

 private:
  Result<store::Assignment> assign_one(const store::SlotRequest& request) {
    if (error) return std::unexpected(*error);
    if (const auto known = slots_.find(request.event); known != slots_.end()) {
      return store::Assignment{.slot = known->second};
    }
    if (request.config_name.str() != "default") {
      return fail(ErrorKind::not_found, "no such config");
    }
    if (slots_.size() == room) return fail(ErrorKind::exhausted, "no room");
    store::Slot slot{.event = request.event,
                     .config_name = request.config_name,
                     .config_version = 1,
                     .requested = request.requested,
                     .window_start = request.requested,
                     .scheduled = request.requested + Seconds{1}};
    slots_[request.event] = slot;
    return store::Assignment{.slot = slot, .fresh = true, .depth = 3};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;                                     // guarded by mutex_
  std::vector<std::vector<store::SlotRequest>> batches_;  // guarded by mutex_
  std::map<EventId, store::Slot> slots_;                  // guarded by mutex_
};

core::SlotCall slot_call(std::string event, std::string config = "") {
  return {.event = EventId::trusted(std::move(event)),
          .config_name = ConfigName::trusted(std::move(config)),
          .requested = kNoon};
}

class SlotServiceTest : public testing::Test {
 protected:
  SlotServiceTest() : log_fd_(memfd_create("slot_service_test", 0)) {}
  ~SlotServiceTest() override {
    service_.reset();
    close(log_fd_);
  }

  SlotService& start(SlotServiceOptions options = {}, std::uint64_t seed = 1) {
    service_.emplace(std::move(options), slots_, configs_, clock_, log_, metrics_, seed);
    return *service_;
  }

  static std::future<SlotService::Assigned> send(SlotService& service,
                                                 std::vector<core::SlotCall> calls) {
    std::promise<SlotService::Assigned> promise;
    auto future = promise.get_future();
    service.assign(std::move(calls), "req-1",
                   [promise = std::move(promise)](SlotService::Assigned answers) mutable {
                     promise.set_value(std::move(answers));
                   });
    return future;
  }

  std::string sample(std::string_view series) const {
    const std::string text = metrics_.prometheus_text();
    const std::string head = "\n" + std::string(series) + " ";
    const std::size_t at = text.find(head);
    if (at == std::string::npos) return "missing";
    const std::size_t begin = at + head.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  std::string logged() const {
    std::string text(static_cast<std::size_t>(lseek(log_fd_, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(log_fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

  const int log_fd_;
  SimulatedClock clock_{kNoon};
  Log log_{clock_, log_fd_, LogLevel::info, LogFormat::text};
  runtime::Metrics metrics_;
  FakeSlots slots_;
  DefaultConfigOnly configs_;
  std::optional<SlotService> service_;
};

TEST_F(SlotServiceTest, answers_each_call_in_order) {
  const auto answers =
      send(start(), {slot_call("a"), slot_call("b", "nope"), slot_call("c")}).get();
  ASSERT_EQ(answers.size(), 3U);
  ASSERT_TRUE(answers[0] && answers[2]);
  EXPECT_EQ(answers[0]->event.str(), "a");
  EXPECT_EQ(answers[0]->scheduled, kNoon + Seconds{1});
  EXPECT_EQ(answers[0]->config_version, 1);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().kind, ErrorKind::not_found);
  EXPECT_EQ(answers[2]->event.str(), "c");
}

TEST_F(SlotServiceTest, answers_no_calls_at_once) {
  bool answered = false;
  start().assign({}, "req-1",
                 [&answered](const SlotService::Assigned& answers) { answered = answers.empty(); });
  EXPECT_TRUE(answered);
  EXPECT_TRUE(slots_.batches().empty());
}

TEST_F(SlotServiceTest, gives_a_known_event_its_first_slot_whatever_config_it_names) {
  SlotService& service = start();
  const auto first = send(service, {slot_call("a")}).get();
  auto again = slot_call("a", "nope");
  again.requested = kNoon + Seconds{100};
  const auto second = send(service, {again}).get();
  ASSERT_TRUE(second[0]);
  EXPECT_EQ(*second[0], *first[0]);
}

TEST_F(SlotServiceTest, hands_the_store_the_whole_question) {
  SlotService& service =
      start({.default_config = ConfigName::trusted("default"), .max_delay = Seconds{7}});
  auto with_delay = slot_call("a", "nope");
  with_delay.max_delay = Millis{0};
  send(service, {with_delay, slot_call("b")}).wait();
  const auto batches = slots_.batches();
  ASSERT_EQ(batches.size(), 1U);
  const store::SlotRequest& a = batches[0].at(0);
  const store::SlotRequest& b = batches[0].at(1);
  EXPECT_EQ(a.event.str(), "a");
  EXPECT_EQ(a.config_name.str(), "nope");
  EXPECT_EQ(a.requested, kNoon);
  EXPECT_EQ(a.max_delay, Millis{0});
  EXPECT_EQ(b.config_name.str(), "default");
  EXPECT_EQ(b.max_delay, Seconds{7});
}

TEST_F(SlotServiceTest, looks_a_config_up_once_for_neighbours_that_share_it) {
  send(start(),
       {slot_call("a"), slot_call("b"), slot_call("c", "x"), slot_call("d", "x"), slot_call("e")})
      .wait();
  EXPECT_EQ(sample("rate_limiter_config_cache_misses_total"), "2");
  EXPECT_EQ(sample("rate_limiter_config_cache_hits_total"), "1");
}

TEST_F(SlotServiceTest, draws_a_number_for_each_event_and_the_same_ones_for_the_same_seed) {
  const auto draw = [this](std::uint64_t seed) {
    runtime::Metrics metrics;
    SlotService service({}, slots_, configs_, clock_, log_, metrics, seed);
    send(service, {slot_call("a"), slot_call("b")}).wait();
    send(service, {slot_call("a")}).wait();
    std::vector<std::uint64_t> drawn;
    const auto batches = slots_.batches();
    for (const auto& batch : {batches.end()[-2], batches.back()}) {
      for (const store::SlotRequest& request : batch) drawn.push_back(request.entropy);
    }
    return drawn;
  };
  const auto first = draw(7);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 3U);
  EXPECT_EQ(draw(7), first);
  EXPECT_NE(draw(8), first);
}

TEST_F(SlotServiceTest, gathers_calls_that_arrive_while_the_store_is_busy) {
  SlotService& service = start();
  slots_.set_held(true);
  auto first = send(service, {slot_call("a")});
  slots_.await_batches(1);
  auto second = send(service, {slot_call("b")});
  auto third = send(service, {slot_call("c"), slot_call("d")});
  EXPECT_EQ(sample("penstock_slots_waiting"), "3");
  slots_.set_held(false);
  EXPECT_EQ(second.get().at(0)->event.str(), "b");
  EXPECT_EQ(third.get().at(1)->event.str(), "d");
  EXPECT_EQ(slots_.batches().size(), 2U);
  EXPECT_EQ(sample("penstock_slots_waiting"), "0");
  EXPECT_EQ(sample("penstock_slots_batch_size_count"), "2");
  EXPECT_EQ(sample("penstock_slots_batch_size_sum"), "4");
}

TEST_F(SlotServiceTest, answers_overloaded_at_once_when_its_queue_is_full) {
  SlotService& service = start({.queue_max = 2});
  slots_.set_held(true);
  auto busy = send(service, {slot_call("a")});
  slots_.await_batches(1);
  auto waiting = send(service, {slot_call("b"), slot_call("c")});
  SlotService::Assigned refused;
  service.assign({slot_call("d"), slot_call("e")}, "req-1",
                 [&refused](SlotService::Assigned answers) { refused = std::move(answers); });
  ASSERT_EQ(refused.size(), 2U);
  for (const auto& answer : refused) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::overloaded);
    EXPECT_EQ(answer.error().what, "too many slot requests are waiting; try again");
  }
  slots_.set_held(false);
  EXPECT_TRUE(waiting.get().at(1));
}

TEST_F(SlotServiceTest, gives_a_store_error_to_every_call) {
  slots_.error = Error{.kind = ErrorKind::unavailable, .what = "disk is full"};
  const auto answers = send(start(), {slot_call("a"), slot_call("b")}).get();
  ASSERT_EQ(answers.size(), 2U);
  for (const auto& answer : answers) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    EXPECT_EQ(answer.error().what, "disk is full");
  }
  EXPECT_EQ(sample("rate_limiter_slot_assignment_failures_total"), "0");
}

TEST_F(SlotServiceTest, asks_no_slots_when_the_config_cannot_be_read) {
  configs_.error = Error{.kind = ErrorKind::unavailable, .what = "away"};
  const auto answers = send(start(), {slot_call("a"), slot_call("b", "x")}).get();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].error().what, "away");
  EXPECT_EQ(answers[1].error().what, "away");
  EXPECT_TRUE(slots_.batches().empty());
}

TEST_F(SlotServiceTest, counts_time_and_depth_of_what_it_assigned) {
  SlotService& service = start();
  send(service, {slot_call("a"), slot_call("b")}).wait();
  send(service, {slot_call("a"), slot_call("x", "nope")}).wait();
  EXPECT_EQ(sample("rate_limiter_slot_assignment_duration_seconds_count"), "4");
  EXPECT_EQ(sample("rate_limiter_window_lookahead_depth_count"), "2") << "only fresh slots";
  EXPECT_EQ(sample("rate_limiter_window_lookahead_depth_sum"), "6");
  EXPECT_EQ(sample("rate_limiter_slot_assignment_failures_total"), "0");
  EXPECT_EQ(sample("rate_limiter_window_contention_total"), "0");
}

TEST_F(SlotServiceTest, logs_exhaustion_once_per_call_and_counts_each_event) {
  slots_.room = 1;
  const auto answers =
      send(start(), {slot_call("a"), slot_call("b"), slot_call("c"), slot_call("d", "nope")}).get();
  EXPECT_TRUE(answers[0]);
  EXPECT_EQ(answers[1].error().kind, ErrorKind::exhausted);
  EXPECT_EQ(answers[2].error().kind, ErrorKind::exhausted);
  EXPECT_EQ(sample("rate_limiter_slot_assignment_failures_total"), "2");
  EXPECT_EQ(logged(),
            "2025-06-01T12:00:00.000Z warn  slots.exhausted request_id=req-1 events=2 "
            "first_event_id=b\n");
}

TEST_F(SlotServiceTest, tells_fresh_from_repeated_in_the_debug_log) {
  log_.set_level(LogLevel::debug);
  SlotService& service = start();
  send(service, {slot_call("a")}).wait();
  send(service, {slot_call("a")}).wait();
  const std::string fields =
      " request_id=req-1 event_id=a window=2025-06-01T12:00:00.000Z "
      "scheduled=2025-06-01T12:00:01.000Z\n";
  EXPECT_EQ(logged(),
            "2025-06-01T12:00:00.000Z debug slots.config_loaded config=default version=1 "
            "max_per_window=10\n"
            "2025-06-01T12:00:00.000Z debug slots.assigned" +
                fields + "2025-06-01T12:00:00.000Z debug slots.idempotent_hit" + fields);
}

TEST_F(SlotServiceTest, answers_what_it_took_when_stopped_and_overloaded_after) {
  SlotService& service = start();
  slots_.set_held(true);
  auto first = send(service, {slot_call("a")});
  slots_.await_batches(1);
  auto second = send(service, {slot_call("b")});
  std::jthread stopper([&service] { service.stop(); });
  slots_.set_held(false);
  EXPECT_TRUE(first.get().at(0));
  EXPECT_TRUE(second.get().at(0));
  stopper.join();
  EXPECT_EQ(send(service, {slot_call("c")}).get().at(0).error().kind, ErrorKind::overloaded);
  service.stop();
}

TEST_F(SlotServiceTest, answers_many_callers_exactly_once) {
  SlotService& service = start({.batch_max = 8});
  std::vector<std::atomic<int>> answered(4 * 100);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = t * 100; i < t * 100 + 100; ++i) {
          service.assign({slot_call("e" + std::to_string(i)), slot_call("shared")}, "req",
                         [&times = answered[i]](const SlotService::Assigned& answers) {
                           if (answers.size() == 2 && answers[0] && answers[1]) ++times;
                         });
        }
      });
    }
  }
  service.stop();
  EXPECT_TRUE(std::ranges::all_of(answered, [](const auto& times) { return times == 1; }));
}

}  // namespace
}  // namespace penstock::service
