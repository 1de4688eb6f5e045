// Look-ups and configs: what is asked of the stores, and what is made of their answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <string>
#include <utility>
#include <vector>

#include "base/test_instants.h"
#include "service/slots/slot_service.h"
#include "service/testing/answer.h"
#include "service/testing/slot_stores.h"

namespace penstock::service {
namespace {

using testing::_;
using testing::Return;
using testing::StrictMock;

const ConfigName kDefault = ConfigName::trusted("default");
const ConfigName kPayments = ConfigName::trusted("payments");

core::SlotConfig config(const ConfigName& name, std::int64_t version) {
  return {.name = name,
          .pool = PoolName::trusted("bank"),
          .max_per_window = 100 * version,
          .window_size = Seconds{4},
          .version = version,
          .active = true,
          .effective_from = kNoon};
}

class FakeFeed final : public store::ChangeFeed {
 public:
  void subscribe(Listener to) override { listener = std::move(to); }
  Result<void> flush_everywhere() override {
    ++flushes;
    return answer;
  }

  Listener listener;
  Result<void> answer;
  int flushes = 0;
};

class SlotServiceReadsTest : public testing::Test {
 protected:
  SlotServiceReadsTest() : log_fd_(memfd_create("slot_service_reads_test", 0)) {}
  ~SlotServiceReadsTest() override {
    service_.stop();
    close(log_fd_);
  }

  Result<std::optional<core::Slot>> find(std::string event) {
    return answer_of<Result<std::optional<core::Slot>>>(
        [&](auto done) { service_.find(EventId::trusted(std::move(event)), std::move(done)); });
  }
  Result<Windows> windows(const ConfigName& name, std::size_t limit) {
    return answer_of<Result<Windows>>([&](auto done) {
      service_.windows(name, kNoon, kNoon + Seconds{60}, limit, std::move(done));
    });
  }
  Result<core::SlotConfig> get_config(const ConfigName& name) {
    return answer_of<Result<core::SlotConfig>>(
        [&](auto done) { service_.get_config(name, std::move(done)); });
  }
  Result<core::SlotConfig> put_config(const core::SlotConfigDraft& draft) {
    return answer_of<Result<core::SlotConfig>>(
        [&](auto done) { service_.put_config(draft, "req-1", std::move(done)); });
  }
  Result<std::vector<core::SlotConfig>> history(const ConfigName& name) {
    return answer_of<Result<std::vector<core::SlotConfig>>>(
        [&](auto done) { service_.config_history(name, std::move(done)); });
  }

  static Result<void> flush(SlotService& service) {
    return answer_of<Result<void>>(
        [&](auto done) { service.flush_config_cache("req-9", std::move(done)); });
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
  runtime::Metrics node_metrics_;  // of a second service
  StrictMock<MockSlots> slots_;
  StrictMock<MockConfigs> configs_;
  SlotService service_{{}, slots_, configs_, clock_, log_, metrics_, 1};
};

const Error kAway{.kind = ErrorKind::unavailable, .what = "away"};

TEST_F(SlotServiceReadsTest, find_gives_the_slot_of_an_event) {
  const core::Slot slot{.event = EventId::trusted("a"), .scheduled = kNoon};
  EXPECT_CALL(slots_, find(_)).WillOnce([&](std::span<const EventId> events) {
    EXPECT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].str(), "a");
    return std::vector<std::optional<core::Slot>>{slot, core::Slot{}};
  });
  EXPECT_EQ(find("a"), slot);
}

TEST_F(SlotServiceReadsTest, find_gives_the_slot_of_an_item_when_there_is_no_such_event) {
  const core::Slot slot{.event = core::item_event("L:a"), .scheduled = kNoon};
  EXPECT_CALL(slots_, find(_)).WillOnce([&](std::span<const EventId> events) {
    EXPECT_EQ(events[1], slot.event);
    return std::vector<std::optional<core::Slot>>{std::nullopt, slot};
  });
  EXPECT_EQ(find("L:a"), slot);
}

TEST_F(SlotServiceReadsTest, find_gives_nothing_for_an_unknown_event) {
  EXPECT_CALL(slots_, find(_)).WillOnce(Return(std::vector<std::optional<core::Slot>>(2)));
  const auto found = find("a");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, std::nullopt);
}

TEST_F(SlotServiceReadsTest, find_passes_a_store_error_on) {
  EXPECT_CALL(slots_, find(_)).WillOnce(Return(std::unexpected(kAway)));
  const auto found = find("a");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what, "away");
}

TEST_F(SlotServiceReadsTest, windows_asks_for_the_pool_of_the_config_and_one_window_more) {
  EXPECT_CALL(configs_, find(kPayments)).WillOnce(Return(config(kPayments, 2)));
  const std::vector<core::WindowUse> used = {{kNoon, 7}, {kNoon + Seconds{8}, 200}};
  EXPECT_CALL(slots_, windows(_)).WillOnce([&](const store::WindowRange& range) {
    EXPECT_EQ(range.pool.str(), "bank");
    EXPECT_EQ(range.window_size, Seconds{4});
    EXPECT_EQ(range.from, kNoon);
    EXPECT_EQ(range.to, kNoon + Seconds{60});
    EXPECT_EQ(range.limit, 3U);
    return used;
  });
  const auto found = windows(kPayments, 2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->config, config(kPayments, 2));
  EXPECT_EQ(found->windows, used);
  EXPECT_FALSE(found->truncated);
}

TEST_F(SlotServiceReadsTest, windows_says_when_there_are_more_than_asked) {
  EXPECT_CALL(configs_, find(kDefault)).WillOnce(Return(config(kDefault, 1)));
  EXPECT_CALL(slots_, windows(_))
      .WillOnce(Return(std::vector<core::WindowUse>{{kNoon, 1}, {kNoon + Seconds{4}, 2}}));
  const auto found = windows({}, 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->windows, (std::vector<core::WindowUse>{{kNoon, 1}}));
  EXPECT_TRUE(found->truncated);
}

TEST_F(SlotServiceReadsTest, windows_fails_without_its_config_or_its_store) {
  EXPECT_CALL(configs_, find(kPayments)).WillOnce(Return(std::nullopt));
  EXPECT_EQ(windows(kPayments, 1).error().kind, ErrorKind::not_found);
  EXPECT_CALL(configs_, find(kDefault)).WillOnce(Return(config(kDefault, 1)));
  EXPECT_CALL(slots_, windows(_)).WillOnce(Return(std::unexpected(kAway)));
  EXPECT_EQ(windows(kDefault, 1).error().what, "away");
}

TEST_F(SlotServiceReadsTest, get_config_takes_an_empty_name_for_the_default) {
  EXPECT_CALL(configs_, find(kDefault)).WillOnce(Return(config(kDefault, 3)));
  EXPECT_EQ(get_config({}), config(kDefault, 3));
  EXPECT_EQ(get_config(kDefault), config(kDefault, 3)) << "from memory";
}

TEST_F(SlotServiceReadsTest, get_config_names_the_config_that_does_not_exist) {
  EXPECT_CALL(configs_, find(kPayments)).WillOnce(Return(std::nullopt));
  const auto found = get_config(kPayments);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::not_found);
  EXPECT_EQ(found.error().what, "there is no slot config named payments");
}

TEST_F(SlotServiceReadsTest, get_config_passes_a_store_error_on) {
  EXPECT_CALL(configs_, find(_)).WillOnce(Return(std::unexpected(kAway)));
  EXPECT_EQ(get_config(kPayments).error().kind, ErrorKind::unavailable);
}

TEST_F(SlotServiceReadsTest, put_config_takes_effect_at_once_and_is_logged) {
  EXPECT_CALL(configs_, find(kPayments)).WillOnce(Return(config(kPayments, 1)));
  EXPECT_EQ(get_config(kPayments)->version, 1);
  const core::SlotConfigDraft draft{.name = kPayments,
                                    .pool = PoolName::trusted("bank"),
                                    .max_per_window = 200,
                                    .window_size = Seconds{4}};
  EXPECT_CALL(configs_, put(_, std::optional<Instant>{}))
      .WillOnce([&](const core::SlotConfigDraft& given, std::optional<Instant>) {
        EXPECT_EQ(given.name, draft.name);
        EXPECT_EQ(given.max_per_window, 200);
        return store::SlotConfigChange{config(kPayments, 2), config(kPayments, 1)};
      });
  EXPECT_EQ(put_config(draft), config(kPayments, 2));
  EXPECT_EQ(get_config(kPayments), config(kPayments, 2)) << "without asking the store";
  EXPECT_EQ(logged(),
            "2025-06-01T12:00:00.000Z info  slots.config_changed request_id=req-1 config=payments "
            "version=2 max_per_window_old=100 max_per_window_new=200 window_ms_old=4000 "
            "window_ms_new=4000\n");
}

TEST_F(SlotServiceReadsTest, put_config_logs_the_first_version_as_coming_from_nothing) {
  EXPECT_CALL(configs_, put(_, _))
      .WillOnce(Return(store::SlotConfigChange{config(kPayments, 1), std::nullopt}));
  EXPECT_TRUE(put_config({.name = kPayments}));
  EXPECT_NE(logged().find("version=1 max_per_window_old=0 max_per_window_new=100 window_ms_old=0 "
                          "window_ms_new=4000\n"),
            std::string::npos);
}

TEST_F(SlotServiceReadsTest, put_config_changes_nothing_when_the_store_refuses) {
  EXPECT_CALL(configs_, find(kPayments)).WillOnce(Return(config(kPayments, 1)));
  EXPECT_EQ(get_config(kPayments)->version, 1);
  EXPECT_CALL(configs_, put(_, _)).WillOnce(Return(fail(ErrorKind::conflict, "in use")));
  const auto refused = put_config({.name = kPayments});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  EXPECT_EQ(get_config(kPayments)->version, 1);
  EXPECT_EQ(logged(), "");
}

TEST_F(SlotServiceReadsTest, config_history_gives_the_versions_of_a_name) {
  const std::vector<core::SlotConfig> versions = {config(kPayments, 2), config(kPayments, 1)};
  EXPECT_CALL(configs_, history(kPayments, 1'000)).WillOnce(Return(versions));
  EXPECT_EQ(history(kPayments), versions);
  EXPECT_CALL(configs_, history(kDefault, _)).WillOnce(Return(versions));
  EXPECT_EQ(history({}), versions);
}

TEST_F(SlotServiceReadsTest, config_history_fails_without_versions_or_its_store) {
  EXPECT_CALL(configs_, history(_, _)).WillOnce(Return(std::vector<core::SlotConfig>{}));
  const auto none = history(kPayments);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::not_found);
  EXPECT_EQ(none.error().what, "there is no slot config named payments");
  EXPECT_CALL(configs_, history(_, _)).WillOnce(Return(std::unexpected(kAway)));
  EXPECT_EQ(history(kPayments).error().what, "away");
}

TEST_F(SlotServiceReadsTest, forgets_what_another_node_changed) {
  FakeFeed feed;
  SlotService node{{}, slots_, configs_, clock_, log_, node_metrics_, 1, &feed};
  const auto version = [&](const ConfigName& name) {
    return answer_of<Result<core::SlotConfig>>(
               [&](auto done) { node.get_config(name, std::move(done)); })
        ->version;
  };
  EXPECT_CALL(configs_, find(kDefault))
      .WillOnce(Return(config(kDefault, 1)))
      .WillOnce(Return(config(kDefault, 2)));
  EXPECT_CALL(configs_, find(kPayments))
      .WillOnce(Return(config(kPayments, 1)))
      .WillOnce(Return(config(kPayments, 5)));
  EXPECT_EQ(version(kDefault), 1);
  EXPECT_EQ(version(kPayments), 1);
  feed.listener(kDefault);
  EXPECT_EQ(version(kDefault), 2);
  EXPECT_EQ(version(kPayments), 1);
  feed.listener(std::nullopt);
  EXPECT_EQ(version(kPayments), 5);
  node.stop();
  EXPECT_FALSE(feed.listener);
}

TEST_F(SlotServiceReadsTest, flush_tells_all_nodes_or_says_that_it_could_not) {
  FakeFeed feed;
  SlotService node{{}, slots_, configs_, clock_, log_, node_metrics_, 1, &feed};
  EXPECT_TRUE(flush(node));
  EXPECT_EQ(feed.flushes, 1);
  feed.answer = std::unexpected(kAway);
  EXPECT_EQ(flush(node).error().what, "away");
}

TEST_F(SlotServiceReadsTest, flush_makes_the_next_look_up_ask_the_store) {
  EXPECT_CALL(configs_, find(kDefault))
      .WillOnce(Return(config(kDefault, 1)))
      .WillOnce(Return(config(kDefault, 2)));
  EXPECT_EQ(get_config({})->version, 1);
  EXPECT_TRUE(flush(service_));
  EXPECT_EQ(get_config({})->version, 2);
  EXPECT_EQ(logged(),
            "2025-06-01T12:00:00.000Z info  slots.config_cache_flushed request_id=req-9\n");
}

TEST_F(SlotServiceReadsTest, answers_overloaded_at_once_when_too_many_reads_wait) {
  constexpr int kThreads = 2;
  constexpr int kWaiting = 4'096;
  std::latch busy(kThreads);
  std::latch release(1);
  std::atomic<int> answered = 0;
  EXPECT_CALL(slots_, find(_)).Times(kThreads + kWaiting).WillRepeatedly([&](auto) {
    if (!busy.try_wait()) busy.count_down();
    release.wait();
    return std::vector<std::optional<core::Slot>>(1);
  });
  const auto ask = [&] {
    service_.find(EventId::trusted("a"), [&](const auto& found) { answered += found ? 1 : 0; });
  };
  for (int i = 0; i < kThreads; ++i) ask();
  busy.wait();
  for (int i = 0; i < kWaiting; ++i) ask();
  Result<std::optional<core::Slot>> refused = std::nullopt;
  service_.find(EventId::trusted("a"), [&](auto found) { refused = std::move(found); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::overloaded);
  release.count_down();
  service_.stop();
  EXPECT_EQ(answered, kThreads + kWaiting);
}

TEST_F(SlotServiceReadsTest, scans_keep_no_look_up_waiting_and_few_of_them_wait) {
  constexpr int kWaiting = 32;
  EXPECT_CALL(configs_, find(kDefault)).WillRepeatedly(Return(config(kDefault, 1)));
  std::latch busy(1);
  std::latch release(1);
  std::atomic<int> answered = 0;
  EXPECT_CALL(slots_, windows(_)).Times(1 + kWaiting).WillRepeatedly([&](const auto&) {
    if (!busy.try_wait()) busy.count_down();
    release.wait();
    return std::vector<core::WindowUse>{};
  });
  const auto preview = [&](auto done) {
    service_.preview({.config = {}, .requested = kNoon, .count = 1}, std::move(done));
  };
  preview([&](const auto& burst) { answered += burst ? 1 : 0; });
  busy.wait();
  for (int i = 0; i < kWaiting; ++i) {
    preview([&](const auto& burst) { answered += burst ? 1 : 0; });
  }
  const auto refused = answer_of<Result<core::Burst>>(preview);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::overloaded);
  EXPECT_CALL(slots_, find(_)).WillOnce(Return(std::vector<std::optional<core::Slot>>(1)));
  EXPECT_TRUE(find("a"));
  EXPECT_EQ(answered, 0);
  release.count_down();
  service_.stop();
  EXPECT_EQ(answered, 1 + kWaiting);
}

TEST_F(SlotServiceReadsTest, a_preview_looks_through_a_bounded_number_of_windows) {
  core::SlotConfig fine = config(kDefault, 1);
  fine.window_size = Millis{100};
  EXPECT_CALL(configs_, find(kDefault)).WillOnce(Return(fine));
  std::size_t seen = 0;
  EXPECT_CALL(slots_, windows(_)).WillRepeatedly([&](const store::WindowRange& range) {
    std::vector<core::WindowUse> full(range.limit);
    for (std::size_t i = 0; i < full.size(); ++i) {
      full[i] = {.start = range.from + static_cast<int>(i) * range.window_size,
                 .used = 1'000'000'000};
    }
    seen += full.size();
    return full;
  });
  const auto burst = answer_of<Result<core::Burst>>([&](auto done) {
    service_.preview({.config = {}, .requested = kNoon, .count = 1}, std::move(done));
  });
  ASSERT_FALSE(burst);
  EXPECT_EQ(burst.error().kind, ErrorKind::invalid);
  EXPECT_EQ(burst.error().field, "count");
  EXPECT_EQ(seen, 200'000U);
}

TEST_F(SlotServiceReadsTest, answers_overloaded_once_stopped) {
  service_.stop();
  EXPECT_EQ(find("a").error().kind, ErrorKind::overloaded);
  EXPECT_EQ(get_config({}).error().kind, ErrorKind::overloaded);
}

}  // namespace
}  // namespace penstock::service
