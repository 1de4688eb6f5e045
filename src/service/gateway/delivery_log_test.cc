// What is written of what providers say, and who is told.
#include "service/gateway/delivery_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "base/test_instants.h"

namespace penstock::service {
namespace {

class FakeDeliveries final : public store::DeliveryStore {
 public:
  Result<void> note_taken(std::span<const store::TakenPart> parts,
                          std::optional<Instant>) override {
    const std::lock_guard lock(mutex);
    if (down) return fail(ErrorKind::unavailable, "down");
    for (const auto& part : parts) {
      written.push_back("taken " + part.name.provider + " " + part.name.reference + " " +
                        part.message.str() + " " + std::to_string(part.part) + "/" +
                        std::to_string(part.parts));
    }
    return {};
  }
  Result<std::vector<bool>> note_reports(std::span<const store::PartReport> reports,
                                         std::optional<Instant>) override {
    const std::lock_guard lock(mutex);
    if (down) return fail(ErrorKind::unavailable, "down");
    for (const auto& report : reports) {
      written.push_back("report " + report.name.reference + " " +
                        std::string(core::delivery_state_name(report.state)));
    }
    return std::vector<bool>(reports.size(), true);
  }
  Result<std::vector<core::DeliveryPart>> find_parts(const ItemId&) override {
    return std::vector<core::DeliveryPart>();
  }
  Result<std::size_t> forget_parts(Instant, std::size_t) override { return std::size_t{0}; }

  std::mutex mutex;
  bool down = false;
  std::vector<std::string> written;
};

class DeliveryLogTest : public testing::Test {
 protected:
  bool taken(std::vector<std::string> references) {
    std::promise<bool> kept;
    log_.note_taken(
        {.provider = "p", .message = ItemId::trusted("m"), .references = std::move(references)},
        [&](bool done) { kept.set_value(done); });
    return kept.get_future().get();
  }
  bool receipt(std::string reference) {
    std::promise<bool> kept;
    log_.note_receipt({.provider = "p",
                       .reference = std::move(reference),
                       .state = core::DeliveryState::delivered,
                       .detail = {}},
                      [&](bool done) { kept.set_value(done); });
    return kept.get_future().get();
  }

  SimulatedClock clock_{kNoon};
  Log quiet_{clock_, 2, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  FakeDeliveries store_;
  DeliveryLog log_{{}, store_, clock_, quiet_, metrics_};
};

TEST_F(DeliveryLogTest, writes_before_it_says_so) {
  EXPECT_TRUE(taken({"a", "", "c"}));
  EXPECT_TRUE(receipt("a"));
  EXPECT_EQ(store_.written,
            (std::vector<std::string>{"taken p a m 1/3", "taken p c m 3/3", "report a DELIVERED"}));
}

TEST_F(DeliveryLogTest, says_when_it_could_not_write) {
  store_.down = true;
  EXPECT_FALSE(taken({"a"}));
  EXPECT_FALSE(receipt("a")) << "the provider is to send it again";
  {
    const std::lock_guard lock(store_.mutex);
    store_.down = false;
  }
  EXPECT_TRUE(receipt("a"));
}

TEST_F(DeliveryLogTest, keeps_nothing_once_stopped) {
  log_.stop();
  EXPECT_FALSE(taken({"a"}));
}

TEST_F(DeliveryLogTest, leaves_away_what_no_store_holds) {
  EXPECT_TRUE(taken({std::string(300, 'x')}));
  EXPECT_TRUE(receipt(std::string("a\0b", 3)));
  EXPECT_TRUE(store_.written.empty());
}

}  // namespace
}  // namespace penstock::service
