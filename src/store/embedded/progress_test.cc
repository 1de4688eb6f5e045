// Retention by more than the clock: what the folder knows of the time it has lived through.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "base/test_instants.h"
#include "base/time.h"
#include "engine/rocksdb/testing/temp_folder.h"
#include "store/embedded/store_parts.h"
#include "store/embedded/writer.h"

namespace penstock::store::embedded {
namespace {

using std::chrono::days;
using std::chrono::hours;

Micros g_monotonic{0};  // for the tests of this file, which run one at a time

class EmbeddedProgressTest : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    parts_.reset();
    auto parts = StoreParts::open({.dir = folder_.path() / "data", .cache_bytes = 1 << 20}, clock_,
                                  []() noexcept { return g_monotonic; });
    ASSERT_TRUE(parts) << parts.error().what;
    parts_ = std::move(*parts);
  }

  Instant old(Millis keep) {
    const Result<Instant> before = parts_->progress.older_than(keep);
    EXPECT_TRUE(before) << before.error().what;
    return before.value_or(kInstantMin);
  }
  void live(Micros time) {
    for (Micros lived{0}; lived < time; lived += hours{1}) {
      clock_.advance(hours{1});
      g_monotonic += hours{1};
      old(days{1});
    }
  }

  TempFolder folder_;
  SimulatedClock clock_{kStart};
  std::unique_ptr<StoreParts> parts_;
};

TEST_F(EmbeddedProgressTest, keeps_its_progress_over_a_restart) {
  live(days{10});
  EXPECT_GT(old(days{5}), kStart);
  open();
  EXPECT_GT(old(days{5}), kStart);
  EXPECT_LE(old(days{5}), clock_.now() - days{5});
}

TEST_F(EmbeddedProgressTest, a_clock_ahead_makes_nothing_old) {
  live(days{2});
  const Instant written = clock_.now();
  clock_.advance(days{100});
  EXPECT_LE(old(days{1}), written - days{1});
  EXPECT_EQ(old(days{90}), kInstantMin);
  open();
  live(hours{2});
  EXPECT_LE(old(days{1}), written - days{1} + hours{2});
  EXPECT_EQ(old(days{90}), kInstantMin);
  clock_.set(written + hours{3});
  EXPECT_LE(old(days{1}), written - days{1} + hours{3});
}

TEST_F(EmbeddedProgressTest, time_without_a_process_does_not_count) {
  live(days{2});
  parts_.reset();
  clock_.advance(days{30});
  open();
  EXPECT_EQ(old(days{10}), kInstantMin);
  EXPECT_GT(old(days{1}), kInstantMin);
}

TEST(ProgressEncoding, gives_back_what_was_written_and_refuses_the_rest) {
  core::Progress progress;
  for (int i = 0; i < 50; ++i) progress.advance(kStart + hours{i}, hours{1});
  const std::string bytes = encode_progress(progress);
  const auto read = decode_progress(bytes);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_TRUE(std::ranges::equal(read->marks(), progress.marks()));
  EXPECT_TRUE(decode_progress(encode_progress({})));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = decode_progress(bytes.substr(0, size));
    EXPECT_EQ(cut.has_value(), size % 16 == 1) << size;
  }
  const std::string marks = bytes.substr(1, 32);
  EXPECT_FALSE(decode_progress(bytes.substr(0, 1) + marks.substr(16) + marks.substr(0, 16)));
}

// A message whose key the store still has is not sent again, whatever the clock says.
TEST_F(EmbeddedProgressTest, a_key_is_known_until_retention_takes_it_out) {
  const UserId user{7};
  ASSERT_TRUE(parts_->quotas.put(user, {.rate_limit = 10, .window = core::Minutes{1}}, {}));
  const auto send = [&](const std::string& id) {
    const Send one{.user = user, .id = ItemId::trusted(id), .key = "k", .context = "{}"};
    return parts_->quotas.send({&one, 1}, std::nullopt).front().value_or(Sent{}).result;
  };
  EXPECT_EQ(send("m1"), SendResult::sent);
  clock_.advance(days{100});
  EXPECT_EQ(send("m2"), SendResult::repeated);
  const Instant keys = old(core::kKeyTerm);
  ASSERT_TRUE(parts_->quotas.forget(keys, keys, 100));
  EXPECT_EQ(send("m3"), SendResult::repeated);
  clock_.set(kStart);
  live(days{2});
  ASSERT_TRUE(parts_->quotas.forget(old(core::kKeyTerm), keys, 100));
  EXPECT_EQ(send("m4"), SendResult::sent);
}

}  // namespace
}  // namespace penstock::store::embedded
