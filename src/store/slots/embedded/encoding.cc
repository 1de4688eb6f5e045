#include "store/slots/embedded/encoding.h"

#include <type_traits>
#include <utility>

#include "engine/rocksdb/bytes.h"
#include "wire/described.h"

namespace penstock::store::embedded {
namespace {

// Past the last window that a request may reach: the end of time, a search of kMaxDelayMax, a
// window.
constexpr std::uint64_t kMillisEnd = static_cast<std::uint64_t>(
    to_epoch_millis(kInstantEnd + core::kMaxDelayMax + core::kWindowSizeMax));

// Marks beside the status of a slot; records older than them have neither.
constexpr std::uint8_t kHasTerm = 0x80;  // the instant to confirm by stands at the end
constexpr std::uint8_t kPlaceKept = 0x40;
constexpr std::uint8_t kStatusBits = 0x3f;

void put_millis(std::string& out, Instant instant) {
  put_number(out, static_cast<std::uint64_t>(to_epoch_millis(instant)));
}

// With the fields that only slots and their configs have.
class SlotReader : public ByteReader {
 public:
  using ByteReader::ByteReader;

  Instant millis() {
    const auto value = number<std::uint64_t>();
    if (value < kMillisEnd) return from_epoch_millis(static_cast<std::int64_t>(value));
    refuse("has a time out of range");
    return {};
  }

  Millis window_size() {
    const auto value = number<std::uint64_t>();
    if (value >= static_cast<std::uint64_t>(core::kWindowSizeMin.count()) &&
        value <= static_cast<std::uint64_t>(core::kWindowSizeMax.count())) {
      return Millis{static_cast<std::int64_t>(value)};
    }
    refuse("has a window size out of range");
    return core::kWindowSizeMin;
  }

  template <class AnyId>
  AnyId id() {
    return id<AnyId>(text());
  }

  template <class AnyId>
  AnyId id_to_nul() {
    return id<AnyId>(text_to_nul());
  }

  template <class AnyId>
  AnyId id_to_end() {
    return id<AnyId>(rest());
  }

 private:
  template <class AnyId>
  AnyId id(std::string_view text) {
    AnyId id = AnyId::trusted(std::string(text));
    std::string_view name = text;
    if constexpr (std::is_same_v<AnyId, EventId>) name = core::shown_id(id);
    if (id_problem(name).empty()) return id;
    refuse("has a malformed id");
    return {};
  }
};

}  // namespace

void encode_slot(const Slot& slot, std::string& out, bool place_kept) {
  auto status = static_cast<std::uint8_t>(slot.status);
  if (slot.confirm_by) status |= kHasTerm;
  if (place_kept) status |= kPlaceKept;
  out.clear();
  put_number(out, kFormat);
  put_number(out, status);
  put_millis(out, slot.requested);
  put_millis(out, slot.window_start);
  put_millis(out, slot.scheduled);
  put_micros(out, slot.created);
  put_number(out, static_cast<std::uint32_t>(slot.config_version));
  put_text(out, slot.config_name.str());
  if (slot.confirm_by) put_micros(out, *slot.confirm_by);
}

Result<Slot> decode_slot(const EventId& event, std::string_view value) {
  SlotReader reader("the slot record", value);
  reader.format();
  Slot slot;
  const auto marks = reader.number<std::uint8_t>();
  const std::uint8_t status = marks & kStatusBits;
  slot.status = static_cast<SlotStatus>(status);
  if (status > static_cast<std::uint8_t>(SlotStatus::expired) ||
      ((marks & kPlaceKept) != 0 && slot.status != SlotStatus::expired)) {
    reader.refuse("has an unknown status");
  }
  slot.requested = reader.millis();
  slot.window_start = reader.millis();
  slot.scheduled = reader.millis();
  slot.created = reader.micros();
  slot.config_version = reader.number<std::uint32_t>();
  slot.config_name = reader.id<ConfigName>();
  if ((marks & kHasTerm) != 0) slot.confirm_by = reader.micros();
  slot.event = event;
  return reader.done(std::move(slot));
}

Result<Slot> decode_slot_at(std::string_view key, std::string_view value) {
  SlotReader reader("the key of a slot", key);
  auto event = reader.id_to_end<EventId>();
  event = PENSTOCK_TRY(reader.done(std::move(event)));
  return decode_slot(event, value);
}

bool holds_place(std::string_view value) noexcept {
  if (value.size() < 2) return false;
  const auto marks = static_cast<std::uint8_t>(value[1]);
  switch (static_cast<SlotStatus>(marks & kStatusBits)) {
    case SlotStatus::assigned:
    case SlotStatus::confirmed:
      return true;
    case SlotStatus::released:
      return false;
    case SlotStatus::expired:
      return (marks & kPlaceKept) != 0;
  }
  return false;
}

std::string term_key(Instant confirm_by) {
  std::string out;
  put_sorted_micros(out, confirm_by);
  return out;
}

std::string term_key(Instant confirm_by, const EventId& event) {
  return term_key(confirm_by) + event.str();
}

Result<TermKey> decode_term_key(std::string_view key) {
  SlotReader reader("the key of a term", key);
  TermKey term;
  term.confirm_by = reader.sorted_micros();
  term.event = reader.id_to_end<EventId>();
  return reader.done(std::move(term));
}

std::string window_key(const PoolName& pool) {
  std::string out;
  put_text(out, pool.str());
  return out;
}

std::string window_key(const PoolName& pool, Millis size) {
  std::string out = window_key(pool);
  put_number(out, static_cast<std::uint64_t>(size.count()));
  return out;
}

std::string window_key(const PoolName& pool, Millis size, Instant start) {
  std::string out = window_key(pool, size);
  put_millis(out, start);
  return out;
}

Result<WindowKey> decode_window_key(std::string_view key) {
  SlotReader reader("the key of a window", key);
  WindowKey window;
  window.pool = reader.id<PoolName>();
  window.size = reader.window_size();
  window.start = reader.millis();
  return reader.done(std::move(window));
}

std::string encode_used(std::uint32_t used) {
  std::string out;
  put_number(out, kFormat);
  put_number(out, used);
  return out;
}

Result<std::uint32_t> decode_used(std::string_view value) {
  SlotReader reader("the counter of a window", value);
  reader.format();
  const auto used = reader.number<std::uint32_t>();
  return reader.done(used);
}

std::string config_key(const ConfigName& name) { return name.str() + '\0'; }

std::string config_key(const ConfigName& name, std::int64_t version) {
  std::string out = config_key(name);
  put_number(out, ~static_cast<std::uint64_t>(version));
  return out;
}

std::string encode_config(const core::SlotConfig& config) {
  std::string out;
  put_number(out, kFormat);
  put_micros(out, config.effective_from);
  put_long_text(out, wire::to_document(core::draft_of(config)));
  return out;
}

Result<core::SlotConfig> decode_config(std::string_view key, std::string_view value) {
  SlotReader key_reader("the key of a config", key);
  const auto name = key_reader.id_to_nul<ConfigName>();
  const std::uint64_t version = ~key_reader.number<std::uint64_t>();
  if (version == 0 || version > UINT32_MAX) key_reader.refuse("has a version out of range");
  PENSTOCK_TRY(key_reader.done(0));

  SlotReader reader("the config record", value);
  reader.format();
  const Instant effective_from = reader.micros();
  const std::string_view document = reader.long_text();
  PENSTOCK_TRY(reader.done(0));
  core::SlotConfigDraft draft = PENSTOCK_TRY(wire::from_document<core::SlotConfigDraft>(document));
  return core::config_of(std::move(draft), static_cast<std::int64_t>(version), /*active=*/false,
                         effective_from);
}

}  // namespace penstock::store::embedded
