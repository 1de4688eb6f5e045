// The bytes of every key and value of the embedded store, in one place. Pure; safe on any thread.
//
// Keys sort as their contents do: numbers are big-endian, ids are printable ASCII. Every value
// begins with a version byte. Decoders are total: any bytes give a value or `corrupt`, naming what
// is wrong.
//
//   meta         engine/rocksdb/format.h, seal.h; "progress": store/embedded/writer.h
//   event_slot   event id                                        -> kFormat status times config
//   term? slot_term    confirm-by us, event id                         -> kFormat; ASSIGNED, with a
//   term slot_window  u8 length, pool, u64 size ms, u64 start ms      -> kFormat u32 used
//   slot_config  name, NUL, u64 ~version (newest version first)
//                -> kFormat effective from us, the document of the draft
//   throttle_policy: policy_encoding.h
//   throttle_usage   throttle key                                -> as core/limits/state.h
//   queue_*, item_type: queue_encoding.h; payment*: payment_encoding.h
//   gateway_*: quota_encoding.h
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot_config.h"
#include "store/slots/ports.h"

namespace penstock::store::embedded {

// `out` is replaced, so that one buffer serves a whole batch. The event is the key and not
// repeated. `place_kept` marks a slot that EXPIRED after its window had begun: the window still
// counts it.
void encode_slot(const Slot& slot, std::string& out, bool place_kept = false);
Result<Slot> decode_slot(const EventId& event, std::string_view value);
Result<Slot> decode_slot_at(std::string_view key, std::string_view value);
// Whether a window counts the slot of this record, which decode_slot accepts.
bool holds_place(std::string_view value) noexcept;

struct TermKey {
  Instant confirm_by{};
  EventId event;

  friend bool operator==(const TermKey&, const TermKey&) = default;
};

std::string term_key(Instant confirm_by);  // before all keys of that instant
std::string term_key(Instant confirm_by, const EventId& event);
Result<TermKey> decode_term_key(std::string_view key);

struct WindowKey {
  PoolName pool;
  Millis size{0};
  Instant start{};

  friend bool operator==(const WindowKey&, const WindowKey&) = default;
};

// Prefixes of the window keys: all windows of a pool; those of one size; one window.
std::string window_key(const PoolName& pool);
std::string window_key(const PoolName& pool, Millis size);
std::string window_key(const PoolName& pool, Millis size, Instant start);
Result<WindowKey> decode_window_key(std::string_view key);

// A window holds at most kMaxPerWindowMax places, far below 2^32.
std::string encode_used(std::uint32_t used);
Result<std::uint32_t> decode_used(std::string_view value);

std::string config_key(const ConfigName& name);  // prefix of all versions of `name`
std::string config_key(const ConfigName& name, std::int64_t version);
std::string encode_config(const core::SlotConfig& config);
// `active` is false in the result: it follows from being the newest version, which one record
// cannot know.
Result<core::SlotConfig> decode_config(std::string_view key, std::string_view value);

}  // namespace penstock::store::embedded
