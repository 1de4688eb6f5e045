#include "store/queue/embedded/queue_encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"
#include "store/embedded/testing/encoding.h"
#include "wire/json.h"

namespace penstock::store::embedded {
namespace {

std::string random_text(Rng& rng, std::int64_t max) {
  std::string text;
  for (std::int64_t n = rng.between(0, max); n > 0; --n) text.push_back(static_cast<char>(rng()));
  return text;
}

Instant any_instant(Rng& rng) { return Instant{Micros{static_cast<std::int64_t>(rng())}}; }

ItemRecord random_item(Rng& rng) {
  ItemRecord record;
  record.state = static_cast<ItemState>(rng.below(core::kItemStates));
  record.retry_count = static_cast<int>(rng.between(0, INT32_MAX));
  record.attempts = static_cast<int>(rng.between(0, INT32_MAX));
  record.scheduled = any_instant(rng);
  record.due = any_instant(rng);
  record.created = any_instant(rng);
  if (rng.below(2) == 0) record.claimed = any_instant(rng);
  if (rng.below(2) == 0) record.dispatched = any_instant(rng);
  record.settled = any_instant(rng);
  record.token = rng();
  record.claim = rng();
  record.pages = static_cast<std::uint32_t>(rng());
  for (std::uint8_t& byte : record.digest) byte = static_cast<std::uint8_t>(rng());
  record.last_error = random_text(rng, 40);
  record.trail = random_text(rng, 40);
  return record;
}

TypeState random_state(Rng& rng) {
  TypeState state;
  for (std::uint64_t& count : state.counts) count = rng();
  state.token = rng();
  state.last_claim = rng();
  return state;
}

LeaseRecord random_lease(Rng& rng) {
  return {.node = random_text(rng, 50),
          .token = rng(),
          .until = any_instant(rng),
          .paused_until = any_instant(rng)};
}

ItemTypeRecord random_type(Rng& rng) {
  ItemTypeRecord record{.type = ItemType::trusted(random_id(rng)),
                        .version = rng.between(1, INT64_MAX),
                        .settings = {},
                        .changed = any_instant(rng)};
  core::ItemTypeSettings& settings = record.settings;
  settings.enabled = rng.below(2) == 0;
  settings.batch_size = rng.between(1, 5'000);
  settings.dispatch_interval = Seconds{rng.between(1, 3'600)};
  settings.jitter_window = Millis{rng.between(0, 3'600'000)};
  settings.pre_start_buffer = std::chrono::minutes{rng.between(0, 1'440)};
  settings.max_dispatch_retries = static_cast<int>(rng.between(1, 1'000));
  settings.stale_claim_threshold = std::chrono::minutes{rng.between(1, 1'440)};
  if (rng.below(2) == 0) settings.max_per_second = rng.between(1, 1'000);
  if (rng.below(2) == 0) settings.burst = rng.between(1, 1'000);
  settings.retry_backoff = Millis{rng.between(0, 1'000)};
  settings.retry_backoff_max = Millis{rng.between(1'000, 86'400'000)};
  settings.max_pause = Seconds{rng.between(1, 86'400)};
  // Of a kind that nobody here knows, as its members were written.
  wire::JsonWriter pin;
  pin.value(random_id(rng));
  settings.sink = {.kind = "fax",
                   .document = R"({"type":"fax","line":{"number":7, "tone":[1.50]},"pins":[)" +
                               std::move(pin).take() + "]}"};
  return record;
}

TEST(QueueEncoding, items_come_back_as_they_went) {
  Rng rng(1);
  std::string value = "left over";
  for (int i = 0; i < 2'000; ++i) {
    const ItemRecord record = random_item(rng);
    encode_item(record, value);
    const Result<ItemRecord> back = decode_item(value);
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(*back, record);
  }
}

TEST(QueueEncoding, states_claims_and_leases_come_back_as_they_went) {
  Rng rng(2);
  for (int i = 0; i < 1'000; ++i) {
    const TypeState state = random_state(rng);
    EXPECT_EQ(decode_type_state(encode_type_state(state)), state);
    const LeaseRecord lease = random_lease(rng);
    EXPECT_EQ(decode_lease(encode_lease(lease)), lease);
    const SettledItem settled{.state = static_cast<ItemState>(rng.between(2, 4)),
                              .scheduled = any_instant(rng),
                              .pages = static_cast<std::uint32_t>(rng())};
    EXPECT_EQ(decode_settled(encode_settled(settled)), settled);
    std::vector<ItemId> ids;
    for (std::uint64_t n = rng.below(10); n > 0; --n)
      ids.push_back(ItemId::trusted(random_id(rng)));
    const ClaimRecord taken{.token = rng(), .at = any_instant(rng), .ids = ids};
    EXPECT_EQ(decode_claim(encode_claim(taken)), taken);
    const ItemType type = ItemType::trusted(random_id(rng));
    EXPECT_EQ(decode_type_state_key(type_state_key(type)), type);
    const std::uint64_t number = rng();
    const Result<ClaimKey> claim = decode_claim_key(claim_key(type, number));
    ASSERT_TRUE(claim) << claim.error().what;
    EXPECT_EQ(claim->type, type);
    EXPECT_EQ(claim->claim, number);
    const Instant at = any_instant(rng);
    const std::string id = random_id(rng);
    const Result<TimedKey> timed = decode_timed_key(type, timed_key(type, at, id));
    ASSERT_TRUE(timed) << timed.error().what;
    EXPECT_EQ(timed->at, at);
    EXPECT_EQ(timed->id.str(), id);
  }
}

TEST(QueueEncoding, item_types_come_back_as_they_went) {
  Rng rng(3);
  for (int i = 0; i < 1'000; ++i) {
    const ItemTypeRecord record = random_type(rng);
    const Result<ItemTypeRecord> back =
        decode_item_type(item_type_key(record.type, record.version), encode_item_type(record));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(back->type, record.type);
    EXPECT_EQ(back->version, record.version);
    EXPECT_EQ(back->settings, record.settings);
    EXPECT_EQ(back->changed, record.changed);
    EXPECT_EQ(decode_item_type_revision(encode_item_type_revision(record.version)),
              static_cast<std::uint64_t>(record.version));
  }
}

TEST(QueueEncoding, audit_entries_come_back_in_their_order_and_are_cut) {
  std::string trail;
  put_audit(trail, {.at = from_epoch_millis(1),
                    .action = AuditAction::enqueued,
                    .from = std::nullopt,
                    .to = ItemState::ready,
                    .batch_id = {},
                    .detail = {}});
  const std::string detail(kDetailBytesMax + 1, 'd');
  const std::string batch(kIdBytesMax + 1, 'b');
  put_audit(trail, {.at = from_epoch_millis(2),
                    .action = AuditAction::redriven,
                    .from = ItemState::dead,
                    .to = ItemState::ready,
                    .batch_id = batch,
                    .detail = detail});
  std::vector<AuditEntry> entries;
  ASSERT_TRUE(decode_audit(trail, entries));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].action, "ENQUEUED");
  EXPECT_EQ(entries[0].from, std::nullopt);
  EXPECT_EQ(entries[1].action, "REDRIVEN");
  EXPECT_EQ(entries[1].from, ItemState::dead);
  EXPECT_EQ(entries[1].at, from_epoch_millis(2));
  EXPECT_EQ(entries[1].batch_id, batch.substr(1));
  EXPECT_EQ(entries[1].detail, detail.substr(1));
}

TEST(QueueEncoding, due_keys_sort_by_type_then_time_then_id) {
  const auto key = [](const char* type, std::int64_t micros, const char* id) {
    return timed_key(ItemType::trusted(type), Instant{Micros{micros}}, id);
  };
  const std::vector<std::string> keys = {
      key("a", -1, "x"),  key("a", 0, "x"),   key("a", 255, "x"),
      key("a", 256, ""),  key("a", 256, "a"), key("a", 256, "aa"),
      key("a", 256, "b"), key("aa", 0, "a"),  key("b", -5, "a")};
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_TRUE(keys[6].starts_with(queue_prefix(ItemType::trusted("a"))));
  EXPECT_FALSE(keys[7].starts_with(queue_prefix(ItemType::trusted("a"))));
}

TEST(QueueEncoding, decoders_are_total) {
  Rng rng(4);
  const ItemType type = ItemType::trusted("type");
  std::string value;
  encode_item(random_item(rng), value);
  expect_total(value, [](const std::string& bytes) { return decode_item(bytes); });
  expect_total(encode_type_state(random_state(rng)),
               [](const std::string& bytes) { return decode_type_state(bytes); });
  expect_total(encode_lease(random_lease(rng)),
               [](const std::string& bytes) { return decode_lease(bytes); });
  expect_total(encode_settled({}), [](const std::string& bytes) { return decode_settled(bytes); });
  expect_total(
      encode_claim({.token = 7, .at = {}, .ids = {ItemId::trusted("a"), ItemId::trusted("bc")}}),
      [](const std::string& bytes) { return decode_claim(bytes); });
  expect_total(claim_key(type, 7),
               [](const std::string& bytes) { return decode_claim_key(bytes); });
  const ItemTypeRecord record = random_type(rng);
  const std::string key = item_type_key(record.type, record.version);
  expect_total(encode_item_type(record),
               [&](const std::string& bytes) { return decode_item_type(key, bytes); });
  expect_total(key, [&](const std::string& bytes) {
    return decode_item_type(bytes, encode_item_type(record));
  });
  expect_total(encode_item_type_revision(7),
               [](const std::string& bytes) { return decode_item_type_revision(bytes); });
}

TEST(QueueEncoding, random_bytes_are_never_trusted) {
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = random_text(rng, 140);
    if (!bytes.empty() && rng.below(2) == 0) bytes[0] = 1;  // past the version byte
    (void)decode_item(bytes);
    (void)decode_type_state_key(bytes);
    (void)decode_type_state(bytes);
    (void)decode_claim_key(bytes);
    (void)decode_claim(bytes);
    (void)decode_lease(bytes);
    (void)decode_settled(bytes);
    (void)decode_timed_key(ItemType::trusted("t"), bytes);
    (void)decode_item_type(bytes, bytes);
    std::vector<AuditEntry> entries;
    (void)decode_audit(bytes, entries);
  }
}

TEST(QueueEncoding, a_cut_audit_entry_is_corrupt) {
  std::string trail;
  put_audit(trail, {.batch_id = "batch-1", .detail = "HTTP 200"});
  for (std::size_t size = 1; size < trail.size(); ++size) {
    std::vector<AuditEntry> entries;
    const Result<void> read = decode_audit(std::string_view(trail).substr(0, size), entries);
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().kind, ErrorKind::corrupt);
  }
}

}  // namespace
}  // namespace penstock::store::embedded
