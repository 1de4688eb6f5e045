// What is remembered of one key: how much is used, never how much is left, so that a changed
// capacity keeps the usage. It carries the rate or window it was made with, so that a change of
// those can be carried over too. 56 bytes; only the exact log owns memory. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/limits/limit.h"

namespace penstock::core {

__extension__ using Wide = unsigned __int128;

// The largest products: 10^12 tokens * 10^15 micros of a rate, 2^53 micros * 10^18 tokens of a
// rate; both below 2^113, so sums of a few never leave 128 bits.

// Used tokens as a whole number of 1 / rate.micros: draining is a multiplication, nothing rounds.
struct BucketUse {
  std::uint64_t units_low;
  std::uint64_t units_high;
  Rate rate;
  // Cost admitted, for people: in the window of `last` and in the one before. They stay at their
  // maximum rather than wrap.
  std::uint32_t recent_previous;
  std::uint32_t recent_current;

  Wide units() const noexcept { return static_cast<Wide>(units_high) << 64 | units_low; }
  void set_units(Wide units) noexcept {
    units_low = static_cast<std::uint64_t>(units);
    units_high = static_cast<std::uint64_t>(units >> 64);
  }
};

// Counts of the window that holds `last` and of the one before (always 0 for FIXED_WINDOW).
struct WindowCounts {
  std::int64_t current;
  std::int64_t previous;
};

struct LogEntry {
  std::int64_t at;  // micros since the epoch
  std::int64_t cost;
};

// Charges in ascending order at entries[first … first + count); `entries` has `room` places.
struct ChargeLog {
  LogEntry* entries;
  std::int64_t sum;
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t room;
};

struct LimitState {
  LimitState() noexcept : bucket{.rate = {.tokens = 0, .micros = 1}} {}
  LimitState(const LimitState& other);
  LimitState(LimitState&& other) noexcept { take(other); }
  LimitState& operator=(const LimitState& other);
  LimitState& operator=(LimitState&& other) noexcept {
    if (this != &other) {
      drop();
      take(other);
    }
    return *this;
  }
  ~LimitState() { drop(); }

  // Bytes outside of the object.
  std::size_t owned_bytes() const noexcept {
    return type == LimitType::sliding_window ? log.room * sizeof(LogEntry) : 0;
  }

  std::int64_t last = 0;  // the newest instant it was charged at, in micros; never moves back
  union {
    BucketUse bucket;
    WindowCounts windows;
    ChargeLog log;
  };
  std::uint32_t window_seconds = 0;
  LimitType type = LimitType::token_bucket;

 private:
  void take(LimitState& other) noexcept;
  void drop() noexcept {
    if (type == LimitType::sliding_window) [[unlikely]]
      free_log();
  }
  void free_log() noexcept;
};
static_assert(sizeof(LimitState) == 56);

// A LimitState as bytes, for stores that outlive the process. Version 1: a version byte, a type
// byte, then LEB128 numbers. Total: any bytes give a state or `corrupt`. Pure; safe on any thread.

void encode_state(const LimitState& state, std::string& out);  // appends
Result<LimitState> decode_state(std::string_view bytes);

void put_number(std::uint64_t number, std::string& out);
// Takes a number off the front of `bytes`; empty when there is none.
std::optional<std::uint64_t> take_number(std::string_view& bytes) noexcept;

}  // namespace penstock::core
