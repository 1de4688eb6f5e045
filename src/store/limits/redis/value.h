// The bytes that Redis keeps of one throttle key. Pure; the decoder is total. The scripts in lua/
// read and write the first two layouts themselves; numbers are little-endian doubles, exact up to
// 2^53.
//
//   small  u8 type (0, 1, 3, 4), capacity, window seconds, last micros, units, rate tokens, rate
//          micros, previous, current                                              65 bytes
//   log    u8 2, capacity, window seconds, last micros, sum, first, count, then entries of
//          (micros, cost); those from `first` on count, `count` of them
//   other  u8 127, store::encode_record: whatever does not fit into doubles
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/limits/limit_record.h"

namespace penstock::store::redis {

// Products that a script forms stay below this, sums of two of them exact.
inline constexpr std::int64_t kExactMax = std::int64_t{1} << 52;

// Whether the scripts can judge by `limit`.
bool fits_script(const core::Limit& limit) noexcept;

std::string encode_value(const LimitRecord& record);
// Any bytes give a record or `corrupt`.
Result<LimitRecord> decode_value(std::string_view bytes);

// Doubles as the scripts' struct.pack('<d') writes them.
void put_double(double value, std::string& out);
inline void put_whole(std::int64_t value, std::string& out) {
  put_double(static_cast<double>(value), out);
}
double take_double(std::string_view& bytes) noexcept;  // at least 8 bytes

}  // namespace penstock::store::redis
