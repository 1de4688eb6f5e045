#include "core/limits/state.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/limits/limit.h"
#include "core/limits/windows.h"

namespace penstock::core {
namespace {

constexpr char kVersion = 1;
constexpr auto kTypeMax = static_cast<std::uint8_t>(LimitType::fixed_window);

std::uint64_t number(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// Reads numbers that must not exceed a bound; after the first failure all are 0.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::int64_t take(std::int64_t max) {
    const std::optional<std::uint64_t> taken = good_ ? take_number(bytes_) : std::nullopt;
    good_ = taken && *taken <= number(max);
    return good_ ? static_cast<std::int64_t>(*taken) : 0;
  }
  bool good() const { return good_; }
  bool done() const { return good_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

void encode_bucket(const BucketUse& bucket, std::string& out) {
  const auto unit = static_cast<std::uint64_t>(bucket.rate.micros);
  put_number(static_cast<std::uint64_t>(bucket.units() / unit), out);
  put_number(static_cast<std::uint64_t>(bucket.units() % unit), out);
  put_number(number(bucket.rate.tokens), out);
  put_number(unit, out);
  put_number(bucket.recent_previous, out);
  put_number(bucket.recent_current, out);
}

bool decode_bucket(Reader& reader, BucketUse& bucket) {
  const std::int64_t whole = reader.take(kCapacityMax);
  const std::int64_t part = reader.take(INT64_MAX);
  bucket.rate.tokens = reader.take(INT64_MAX);
  bucket.rate.micros = reader.take(INT64_MAX);
  bucket.recent_previous = static_cast<std::uint32_t>(reader.take(UINT32_MAX));
  bucket.recent_current = static_cast<std::uint32_t>(reader.take(UINT32_MAX));
  if (!reader.good() || !valid(bucket.rate) || part >= bucket.rate.micros) return false;
  bucket.set_units(static_cast<Wide>(whole) * static_cast<std::uint64_t>(bucket.rate.micros) +
                   static_cast<std::uint64_t>(part));
  return true;
}

// Instants are written as the distance from the one before, the first from `last` backwards.
void encode_log(const LimitState& state, std::string& out) {
  const ChargeLog& log = state.log;
  put_number(log.count, out);
  std::int64_t before = state.last;
  for (std::uint32_t i = log.count; i > 0; --i) {
    const LogEntry& entry = log.entries[log.first + i - 1];
    put_number(number(before - entry.at), out);
    put_number(number(entry.cost), out);
    before = entry.at;
  }
}

bool decode_log(Reader& reader, LimitState& state) {
  const std::int64_t count = reader.take(kLogEntriesMax);
  if (!reader.good()) return false;
  std::int64_t at = state.last;
  std::int64_t sum = 0;
  // Newest first on disk, oldest first in memory; the room is taken as the bytes turn up.
  std::vector<LogEntry> newest_first;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t distance = reader.take(at);
    const std::int64_t cost = reader.take(kCapacityMax);
    if (!reader.good() || cost == 0 || (i > 0 && distance == 0)) return false;
    at -= distance;
    sum += cost;
    if (sum > kCapacityMax) return false;
    newest_first.push_back({.at = at, .cost = cost});
  }
  for (auto entry = newest_first.rbegin(); entry != newest_first.rend(); ++entry) {
    append_to_log(state, *entry, kLogEntriesMax + 1);
  }
  return true;
}

bool decode_counts(Reader& reader, WindowCounts& counts, LimitType type) {
  counts.current = reader.take(kCapacityMax);
  counts.previous = reader.take(kCapacityMax);
  return reader.good() && (type == LimitType::sliding_window_counter || counts.previous == 0);
}

bool decode_use(Reader& reader, LimitState& state) {
  switch (state.type) {
    case LimitType::token_bucket:
    case LimitType::gcra:
      return decode_bucket(reader, state.bucket);
    case LimitType::sliding_window:
      state.log = {};
      return decode_log(reader, state);
    case LimitType::sliding_window_counter:
    case LimitType::fixed_window:
      state.windows = {};
      return decode_counts(reader, state.windows, state.type);
  }
  return false;
}

}  // namespace

LimitState::LimitState(const LimitState& other)
    : last(other.last), window_seconds(other.window_seconds), type(other.type) {
  if (type != LimitType::sliding_window) {
    std::memcpy(static_cast<void*>(&bucket), &other.bucket, sizeof bucket);
    return;
  }
  log = {.entries = other.log.room > 0 ? new LogEntry[other.log.room] : nullptr,
         .sum = other.log.sum,
         .first = 0,
         .count = other.log.count,
         .room = other.log.room};
  std::copy_n(other.log.entries + other.log.first, log.count, log.entries);
}

LimitState& LimitState::operator=(const LimitState& other) {
  if (this != &other) *this = LimitState(other);
  return *this;
}

void LimitState::take(LimitState& other) noexcept {
  last = other.last;
  window_seconds = other.window_seconds;
  type = other.type;
  std::memcpy(static_cast<void*>(&bucket), &other.bucket, sizeof bucket);
  other.type = LimitType::token_bucket;
  other.bucket = {.rate = {.tokens = 0, .micros = 1}};
}

void LimitState::free_log() noexcept {
  delete[] log.entries;
  log = {};
}

void put_number(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

std::optional<std::uint64_t> take_number(std::string_view& bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    if (i == 9 && byte > 1) return std::nullopt;  // beyond 64 bits
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

void encode_state(const LimitState& state, std::string& out) {
  out.push_back(kVersion);
  out.push_back(static_cast<char>(state.type));
  put_number(number(state.last), out);
  put_number(state.window_seconds, out);
  switch (state.type) {
    case LimitType::token_bucket:
    case LimitType::gcra:
      return encode_bucket(state.bucket, out);
    case LimitType::sliding_window:
      return encode_log(state, out);
    case LimitType::sliding_window_counter:
    case LimitType::fixed_window:
      put_number(number(state.windows.current), out);
      put_number(number(state.windows.previous), out);
      return;
  }
}

Result<LimitState> decode_state(std::string_view bytes) {
  const auto corrupt = [](const char* what) { return fail(ErrorKind::corrupt, what); };
  if (bytes.size() < 2) return corrupt("limit state: too short");
  if (bytes[0] != kVersion) return corrupt("limit state: unknown version");
  const auto type = static_cast<std::uint8_t>(bytes[1]);
  if (type > kTypeMax) return corrupt("limit state: unknown type");
  Reader reader(bytes.substr(2));
  LimitState state;
  state.last = reader.take(kInstantEnd.time_since_epoch().count());
  const std::int64_t window = reader.take(kLimitWindowMax.count());
  if (window < kLimitWindowMin.count()) return corrupt("limit state: bad instant or window");
  state.window_seconds = static_cast<std::uint32_t>(window);
  state.type = static_cast<LimitType>(type);
  if (!decode_use(reader, state)) return corrupt("limit state: bad usage");
  if (!reader.done()) return corrupt("limit state: bytes left over");
  return state;
}

}  // namespace penstock::core
