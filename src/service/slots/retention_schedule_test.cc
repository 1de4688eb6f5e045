#include "service/slots/retention_schedule.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <future>
#include <semaphore>
#include <vector>

#include "base/test_instants.h"
#include "service/testing/retention_clock.h"

namespace penstock::service {
namespace {

class FakeRetention final : public store::SlotRetention {
 public:
  Result<store::PruneReport> prune(const store::PruneOptions& options, const Sink& sink,
                                   const std::function<bool()>&) override {
    before = options.before;
    const std::vector<core::Slot> slots(3);
    Result<void> kept = sink(slots);
    runs.release();
    if (!kept) return std::unexpected(kept.error());
    return store::PruneReport{.slots = 3, .windows = 1};
  }

  std::atomic<Instant> before{};
  std::counting_semaphore<> runs{0};
};

class RetentionScheduleTest : public testing::Test {
 protected:
  ~RetentionScheduleTest() override { close(log_fd_); }

  // Runs a schedule until it has pruned twice.
  void run_twice(const RetentionSchedule::MakeSink& make_sink) {
    RetentionSchedule schedule({.keep = Seconds{90}, .interval = Millis{1}}, retention_, make_sink,
                               clock_, log_, metrics_);
    retention_.runs.acquire();
    retention_.runs.acquire();
  }

  std::string logged() const {
    std::string text(static_cast<std::size_t>(lseek(log_fd_, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(log_fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text.substr(0, text.find('\n') + 1);
  }

  const int log_fd_ = memfd_create("retention_schedule_test", 0);
  SimulatedClock clock_{kNoon};
  Log log_{clock_, log_fd_, LogLevel::info, LogFormat::text};
  runtime::Metrics metrics_;
  FakeRetention retention_;
};

TEST_F(RetentionScheduleTest, prunes_what_is_older_than_it_keeps) {
  run_twice([] { return nullptr; });
  EXPECT_EQ(retention_.before.load(), kNoon - Seconds{90});
  EXPECT_EQ(logged(),
            "2025-06-01T12:00:00.000Z info  slots.pruned before=2025-06-01T11:58:30.000Z slots=3 "
            "windows=1\n");
}

TEST_F(RetentionScheduleTest, goes_by_the_stores_own_time) {
  FakeRetentionClock own;
  own.old = kNoon - std::chrono::days{30};
  RetentionSchedule schedule(
      {.keep = Seconds{90}, .interval = Millis{1}}, retention_, [] { return nullptr; }, clock_,
      log_, metrics_, &own);
  retention_.runs.acquire();
  EXPECT_EQ(own.asked_for.load(), Seconds{90});
  EXPECT_EQ(retention_.before.load(), kNoon - std::chrono::days{30});
}

TEST_F(RetentionScheduleTest, hands_slots_to_a_sink_of_their_own_run) {
  std::atomic<int> sinks = 0;
  std::atomic<std::size_t> kept = 0;
  run_twice([&] {
    ++sinks;
    return [&](std::span<const core::Slot> slots) -> Result<void> {
      kept += slots.size();
      return {};
    };
  });
  EXPECT_GE(sinks, 2);
  EXPECT_GE(kept, 6U);
}

TEST_F(RetentionScheduleTest, goes_on_after_a_failure) {
  run_twice([] {
    return [](std::span<const core::Slot>) -> Result<void> {
      return fail(ErrorKind::unavailable, "disk full");
    };
  });
  EXPECT_EQ(logged(),
            "2025-06-01T12:00:00.000Z warn  slots.prune_failed before=2025-06-01T11:58:30.000Z "
            "error=\"disk full\"\n");
}

}  // namespace
}  // namespace penstock::service
