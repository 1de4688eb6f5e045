#include "store/limits/redis/value.h"

#include <bit>
#include <optional>
#include <utility>

#include "core/limits/limit.h"
#include "core/limits/windows.h"

namespace penstock::store::redis {
namespace {

using core::LimitState;
using core::LimitType;

constexpr char kOther = 127;
constexpr std::size_t kSmallBytes = 1 + 8 * 8;
constexpr std::size_t kLogHeaderBytes = 1 + 6 * 8;
constexpr std::size_t kLogEntryBytes = 16;
// What a log may be shifted by before it is written anew; the scripts do it far earlier.
constexpr std::int64_t kLogFirstMax = 1'000'000;

// Whole numbers in [0, max]; after the first failure all are 0.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::int64_t take(std::int64_t max) {
    if (!good_ || bytes_.size() < 8) {
      good_ = false;
      return 0;
    }
    const double value = take_double(bytes_);
    // Written so that NaN fails.
    good_ = value >= 0 && value <= 9007199254740992.0;
    if (!good_) return 0;
    const auto whole = static_cast<std::int64_t>(value);
    good_ = static_cast<double>(whole) == value && whole <= max;
    return good_ ? whole : 0;
  }
  void skip(std::int64_t bytes) {
    good_ = good_ && static_cast<std::uint64_t>(bytes) <= bytes_.size();
    if (good_) bytes_.remove_prefix(static_cast<std::size_t>(bytes));
  }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

bool is_small(const LimitRecord& record) {
  const LimitState& state = record.state;
  if (state.type == LimitType::sliding_window || state.last > 2 * kExactMax) return false;
  if (!core::is_bucket(state.type)) return true;
  return state.bucket.units() <= static_cast<core::Wide>(kExactMax) &&
         state.bucket.rate.micros <= kExactMax && state.bucket.rate.tokens <= kExactMax;
}

std::string encode_small(const LimitRecord& record) {
  const LimitState& state = record.state;
  std::string out(1, static_cast<char>(state.type));
  put_whole(record.capacity, out);
  put_whole(state.window_seconds, out);
  put_whole(state.last, out);
  if (core::is_bucket(state.type)) {
    put_whole(static_cast<std::int64_t>(state.bucket.units_low), out);
    put_whole(state.bucket.rate.tokens, out);
    put_whole(state.bucket.rate.micros, out);
    put_whole(state.bucket.recent_previous, out);
    put_whole(state.bucket.recent_current, out);
  } else {
    put_whole(0, out);
    put_whole(0, out);
    put_whole(1, out);
    put_whole(state.windows.previous, out);
    put_whole(state.windows.current, out);
  }
  return out;
}

std::string encode_log(const LimitRecord& record) {
  const LimitState& state = record.state;
  std::string out(1, static_cast<char>(state.type));
  out.reserve(kLogHeaderBytes + kLogEntryBytes * state.log.count);
  put_whole(record.capacity, out);
  put_whole(state.window_seconds, out);
  put_whole(state.last, out);
  put_whole(state.log.sum, out);
  put_whole(0, out);
  put_whole(state.log.count, out);
  for (std::uint32_t i = 0; i < state.log.count; ++i) {
    put_whole(state.log.entries[state.log.first + i].at, out);
    put_whole(state.log.entries[state.log.first + i].cost, out);
  }
  return out;
}

bool decode_small(Reader& reader, LimitState& state) {
  const std::int64_t units = reader.take(kExactMax);
  const core::Rate rate{.tokens = reader.take(kExactMax), .micros = reader.take(kExactMax)};
  const bool bucket = core::is_bucket(state.type);
  const std::int64_t count_max = bucket ? UINT32_MAX : core::kCapacityMax;
  const std::int64_t previous = reader.take(count_max);
  const std::int64_t current = reader.take(count_max);
  if (!reader.good()) return false;
  if (!bucket) {
    state.windows = {.current = current, .previous = previous};
    return state.type == LimitType::sliding_window_counter || previous == 0;
  }
  state.bucket = {.units_low = static_cast<std::uint64_t>(units),
                  .units_high = 0,
                  .rate = rate,
                  .recent_previous = static_cast<std::uint32_t>(previous),
                  .recent_current = static_cast<std::uint32_t>(current)};
  return core::valid(rate) && units / rate.micros <= core::kCapacityMax;
}

bool decode_log(Reader& reader, LimitState& state) {
  const std::int64_t sum = reader.take(core::kCapacityMax);
  const std::int64_t first = reader.take(kLogFirstMax);
  const std::int64_t count = reader.take(core::kLogEntriesMax);
  reader.skip(first * static_cast<std::int64_t>(kLogEntryBytes));
  state.log = {};
  std::int64_t before = -1;
  for (std::int64_t i = 0; i < count && reader.good(); ++i) {
    const core::LogEntry entry{.at = reader.take(state.last),
                               .cost = reader.take(core::kCapacityMax)};
    if (!reader.good() || entry.at <= before || entry.cost == 0) return false;
    before = entry.at;
    core::append_to_log(state, entry, core::kLogEntriesMax + 1);
    if (state.log.sum > sum) return false;
  }
  return reader.good() && state.log.sum == sum;
}

}  // namespace

void put_double(double value, std::string& out) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int byte = 0; byte < 8; ++byte) out.push_back(static_cast<char>(bits >> (8 * byte) & 0xff));
}

double take_double(std::string_view& bytes) noexcept {
  std::uint64_t bits = 0;
  for (int byte = 0; byte < 8; ++byte) {
    bits |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes[byte])) << (8 * byte);
  }
  bytes.remove_prefix(8);
  return std::bit_cast<double>(bits);
}

bool fits_script(const core::Limit& limit) noexcept {
  if (!core::is_bucket(limit.type)) return true;
  return limit.refill.tokens <= kExactMax && limit.capacity <= kExactMax / limit.refill.micros;
}

std::string encode_value(const LimitRecord& record) {
  if (is_small(record)) return encode_small(record);
  if (record.state.type == LimitType::sliding_window && record.state.last <= 2 * kExactMax) {
    return encode_log(record);
  }
  return kOther + encode_record(record);
}

Result<LimitRecord> decode_value(std::string_view bytes) {
  const auto corrupt = [](const char* what) { return fail(ErrorKind::corrupt, what); };
  if (bytes.empty()) return corrupt("redis value: empty");
  if (bytes[0] == kOther) return decode_record(bytes.substr(1));
  if (bytes[0] < 0 || bytes[0] > static_cast<char>(LimitType::fixed_window)) {
    return corrupt("redis value: unknown layout");
  }
  LimitRecord record;
  LimitState& state = record.state;
  Reader reader(bytes.substr(1));
  record.capacity = reader.take(core::kCapacityMax);
  const std::int64_t window = reader.take(core::kLimitWindowMax.count());
  state.last = reader.take(2 * kExactMax);
  if (record.capacity < 1 || window < core::kLimitWindowMin.count()) {
    return corrupt("redis value: bad capacity, window or instant");
  }
  state.window_seconds = static_cast<std::uint32_t>(window);
  const auto type = static_cast<LimitType>(bytes[0]);
  const bool log = type == LimitType::sliding_window;
  if (!log && bytes.size() != kSmallBytes) return corrupt("redis value: bad length");
  state.type = type;
  if (log) state.log = {};
  if (!(log ? decode_log(reader, state) : decode_small(reader, state))) {
    return corrupt("redis value: bad usage");
  }
  return record;
}

}  // namespace penstock::store::redis
