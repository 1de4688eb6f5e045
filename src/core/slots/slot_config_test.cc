#include "core/slots/slot_config.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/iso8601.h"

namespace penstock::core {
namespace {

SlotConfigDraft good_draft() {
  return {.name = ConfigName::trusted("payments"),
          .pool = PoolName::trusted("payments"),
          .max_per_window = 100,
          .window_size = std::chrono::seconds{4}};
}

TEST(SlotConfigDraft, passes_over_the_whole_allowed_range) {
  EXPECT_TRUE(check_record(good_draft()));
  for (const std::int64_t max : {kMaxPerWindowMin, kMaxPerWindowMax}) {
    for (const Millis size : {kWindowSizeMin, kWindowSizeMax}) {
      SlotConfigDraft draft = good_draft();
      draft.max_per_window = max;
      draft.window_size = size;
      EXPECT_TRUE(check_record(draft));
    }
  }
}

TEST(SlotConfigDraft, is_refused_with_the_allowed_maximum) {
  const std::string expected = "maxPerWindow: must be from " + std::to_string(kMaxPerWindowMin) +
                               " to " + std::to_string(kMaxPerWindowMax);
  for (const std::int64_t max :
       {std::int64_t{0}, std::int64_t{-1}, kMaxPerWindowMax + 1,
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    SlotConfigDraft draft = good_draft();
    draft.max_per_window = max;
    const Result<void> result = check_record(draft);
    ASSERT_FALSE(result) << max;
    EXPECT_EQ(result.error().kind, ErrorKind::invalid);
    EXPECT_EQ(result.error().field, "maxPerWindow");
    EXPECT_EQ(result.error().what, expected);
  }
}

TEST(SlotConfigDraft, is_refused_with_the_allowed_window_sizes) {
  const std::string expected = "windowSize: must be from " + format_duration(kWindowSizeMin) +
                               " to " + format_duration(kWindowSizeMax);
  for (const Millis size :
       {Millis{0}, Millis{-4'000}, kWindowSizeMax + Millis{1}, Millis::max(), Millis::min()}) {
    SlotConfigDraft draft = good_draft();
    draft.window_size = size;
    const Result<void> result = check_record(draft);
    ASSERT_FALSE(result) << size.count();
    EXPECT_EQ(result.error().kind, ErrorKind::invalid);
    EXPECT_EQ(result.error().field, "windowSize");
    EXPECT_EQ(result.error().what, expected);
  }
}

TEST(SlotConfigDraft, is_refused_without_a_name) {
  SlotConfigDraft draft = good_draft();
  draft.name = ConfigName{};
  const Result<void> result = check_record(draft);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().field, "configName");
  EXPECT_EQ(result.error().what, "configName: is required");
}

TEST(SlotConfigDraft, may_leave_its_pool_out_but_not_misspell_it) {
  SlotConfigDraft draft = good_draft();
  draft.pool = PoolName{};
  EXPECT_TRUE(check_record(draft));
  draft.pool = PoolName::trusted("two words");
  const Result<void> result = check_record(draft);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().field, "pool");
}

}  // namespace
}  // namespace penstock::core
