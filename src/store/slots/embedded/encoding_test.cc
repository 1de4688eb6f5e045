#include "store/slots/embedded/encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "store/embedded/testing/encoding.h"

namespace penstock::store::embedded {
namespace {

Instant random_instant(Rng& rng) {
  return from_epoch_millis(rng.between(0, to_epoch_millis(kInstantEnd) - 1));
}

Slot random_slot(Rng& rng) {
  return {.event = EventId::trusted(random_id(rng)),
          .config_name = ConfigName::trusted(random_id(rng)),
          .config_version = rng.between(1, UINT32_MAX),
          .requested = random_instant(rng),
          .window_start = random_instant(rng),
          .scheduled = random_instant(rng) + core::kMaxDelayMax,
          .created = random_instant(rng) + Micros{rng.between(0, 999)},
          .status = static_cast<SlotStatus>(rng.below(4)),
          .confirm_by = rng.below(2) == 0
                            ? std::nullopt
                            : std::optional(random_instant(rng) + Micros{rng.between(0, 999)})};
}

core::SlotConfig random_config(Rng& rng) {
  return {.name = ConfigName::trusted(random_id(rng)),
          .pool = PoolName::trusted(random_id(rng)),
          .max_per_window = rng.between(core::kMaxPerWindowMin, core::kMaxPerWindowMax),
          .window_size = Millis{rng.between(1, core::kWindowSizeMax.count())},
          .version = rng.between(1, UINT32_MAX),
          .active = false,
          .effective_from = random_instant(rng) + Micros{rng.between(0, 999)}};
}

TEST(Encoding, slots_come_back_as_they_went) {
  Rng rng(1);
  std::string value = "left over";
  for (int i = 0; i < 2'000; ++i) {
    const Slot slot = random_slot(rng);
    encode_slot(slot, value);
    const Result<Slot> back = decode_slot(slot.event, value);
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(*back, slot);
  }
}

TEST(Encoding, slots_written_before_there_were_terms_are_read) {
  const std::string old(
      "\x01\x01"              // format, CONFIRMED
      "\0\0\0\0\0\0\x03\xe8"  // requested at 1 s
      "\0\0\0\0\0\0\x07\xd0"  // window at 2 s
      "\0\0\0\0\0\0\x09\xc4"  // scheduled at 2.5 s
      "\0\0\0\0\0\0\0\x07"    // created at 7 us
      "\0\0\0\x05"            // config version
      "\x03"                  // config name
      "abc",
      42);
  const Slot expected{.event = EventId::trusted("e"),
                      .config_name = ConfigName::trusted("abc"),
                      .config_version = 5,
                      .requested = from_epoch_millis(1'000),
                      .window_start = from_epoch_millis(2'000),
                      .scheduled = from_epoch_millis(2'500),
                      .created = Instant{Micros{7}},
                      .status = SlotStatus::confirmed};
  const Result<Slot> slot = decode_slot(expected.event, old);
  ASSERT_TRUE(slot) << slot.error().what;
  EXPECT_EQ(*slot, expected);
  EXPECT_TRUE(holds_place(old));
  std::string value;
  encode_slot(expected, value);
  EXPECT_EQ(value, old) << "a slot without a term takes no more bytes than before";
}

TEST(Encoding, a_record_tells_whether_its_window_counts_it) {
  Rng rng(6);
  std::string value;
  for (int i = 0; i < 200; ++i) {
    Slot slot = random_slot(rng);
    encode_slot(slot, value);
    EXPECT_EQ(holds_place(value),
              slot.status == SlotStatus::assigned || slot.status == SlotStatus::confirmed);
    encode_slot(slot, value, /*place_kept=*/true);
    const Result<Slot> back = decode_slot(slot.event, value);
    if (slot.status == SlotStatus::expired) {
      ASSERT_TRUE(back) << back.error().what;
      EXPECT_EQ(*back, slot);
      EXPECT_TRUE(holds_place(value));
    } else {
      EXPECT_FALSE(back) << "only one that expired may have kept its place";
    }
  }
  EXPECT_FALSE(holds_place(""));
}

TEST(Encoding, terms_come_back_as_they_went_and_sort_by_time) {
  Rng rng(7);
  for (int i = 0; i < 2'000; ++i) {
    const TermKey term{.confirm_by = random_instant(rng) + Micros{rng.between(0, 999)},
                       .event = EventId::trusted(random_id(rng))};
    const Result<TermKey> back = decode_term_key(term_key(term.confirm_by, term.event));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(*back, term);
  }
  const auto key = [](std::int64_t micros, const char* event) {
    return term_key(Instant{Micros{micros}}, EventId::trusted(event));
  };
  const std::vector<std::string> keys = {term_key(Instant::min()),
                                         key(-1, "z"),
                                         term_key(Instant{Micros{255}}),
                                         key(255, "a"),
                                         key(255, "b"),
                                         key(256, "a")};
  EXPECT_TRUE(std::ranges::is_sorted(keys));
}

TEST(Encoding, windows_come_back_as_they_went) {
  Rng rng(2);
  for (int i = 0; i < 2'000; ++i) {
    const WindowKey window{.pool = PoolName::trusted(random_id(rng)),
                           .size = Millis{rng.between(1, core::kWindowSizeMax.count())},
                           .start = random_instant(rng)};
    const Result<WindowKey> back =
        decode_window_key(window_key(window.pool, window.size, window.start));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(*back, window);
    const auto used = static_cast<std::uint32_t>(rng());
    EXPECT_EQ(decode_used(encode_used(used)), used);
  }
}

TEST(Encoding, configs_come_back_as_they_went) {
  Rng rng(3);
  for (int i = 0; i < 2'000; ++i) {
    const core::SlotConfig config = random_config(rng);
    const Result<core::SlotConfig> back =
        decode_config(config_key(config.name, config.version), encode_config(config));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(*back, config);
  }
}

TEST(Encoding, schema_version_comes_back_as_it_went) {
  for (const std::uint32_t version : {0U, 1U, 255U, 256U, UINT32_MAX}) {
    EXPECT_EQ(decode_schema(encode_schema(version)), version);
  }
}

TEST(Encoding, window_keys_sort_by_pool_then_size_then_start) {
  const auto key = [](const char* pool, int size, std::int64_t start) {
    return window_key(PoolName::trusted(pool), Millis{size}, from_epoch_millis(start));
  };
  const std::vector<std::string> keys = {key("a", 1, 0), key("a", 1, 255), key("a", 1, 256),
                                         key("a", 2, 0), key("a", 256, 0), key("b", 1, 0),
                                         key("aa", 1, 0)};  // longer names after shorter ones
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_TRUE(keys[1].starts_with(window_key(PoolName::trusted("a"), Millis{1})));
  EXPECT_TRUE(keys[1].starts_with(window_key(PoolName::trusted("a"))));
  EXPECT_FALSE(keys[6].starts_with(window_key(PoolName::trusted("a"))));
}

TEST(Encoding, config_keys_sort_by_name_then_newest_first) {
  const auto key = [](const char* name, std::int64_t version) {
    return config_key(ConfigName::trusted(name), version);
  };
  const std::vector<std::string> keys = {key("a", 300), key("a", 2),  key("a", 1),
                                         key("a!", 1),  key("aa", 9), key("b", 1)};
  EXPECT_TRUE(std::ranges::is_sorted(keys));
}

TEST(Encoding, decoders_are_total) {
  Rng rng(4);
  Slot slot = random_slot(rng);
  std::string value;
  for (const auto confirm_by : {std::optional<Instant>{}, std::optional(random_instant(rng))}) {
    slot.confirm_by = confirm_by;
    encode_slot(slot, value);
    expect_total(value, [&](const std::string& bytes) { return decode_slot(slot.event, bytes); });
  }
  expect_total(window_key(PoolName::trusted("pool"), Seconds{4}, random_instant(rng)),
               [](const std::string& bytes) { return decode_window_key(bytes); });
  expect_total(encode_used(7), [](const std::string& bytes) { return decode_used(bytes); });
  expect_total(encode_schema(1), [](const std::string& bytes) { return decode_schema(bytes); });
  const core::SlotConfig config = random_config(rng);
  const std::string key = config_key(config.name, config.version);
  expect_total(encode_config(config),
               [&](const std::string& bytes) { return decode_config(key, bytes); });
  expect_total(
      key, [&](const std::string& bytes) { return decode_config(bytes, encode_config(config)); });
}

TEST(Encoding, random_bytes_are_never_trusted) {
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (std::uint64_t n = rng.below(60); n > 0; --n) bytes.push_back(static_cast<char>(rng()));
    if (!bytes.empty() && rng.below(2) == 0) bytes[0] = 1;  // past the version byte
    (void)decode_slot(EventId::trusted("e"), bytes);
    (void)holds_place(bytes);
    (void)decode_term_key(bytes);
    (void)decode_window_key(bytes);
    (void)decode_used(bytes);
    (void)decode_schema(bytes);
    (void)decode_config(bytes, bytes);
  }
}

TEST(Encoding, an_unknown_format_is_named) {
  const Result<std::uint32_t> used = decode_used(std::string("\x02\0\0\0\7", 5));
  ASSERT_FALSE(used);
  EXPECT_EQ(used.error().what, "the counter of a window is of a format this version does not know");
}

}  // namespace
}  // namespace penstock::store::embedded
