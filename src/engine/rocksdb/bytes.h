// Numbers and texts as bytes, and back: what all records of the store are made of. Numbers are
// big-endian, so that keys sort as their contents do. Reading is total. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace penstock::store::embedded {

inline constexpr std::uint8_t kFormat = 1;  // of every value there is
inline constexpr std::uint64_t kVersionMax = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

template <class Unsigned>
void put_number(std::string& out, Unsigned value) {
  std::array<char, sizeof(Unsigned)> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * (bytes.size() - 1 - i))));
  }
  out.append(bytes.data(), bytes.size());
}

inline void put_signed(std::string& out, std::int64_t value) {
  put_number(out, static_cast<std::uint64_t>(value));
}

inline void put_micros(std::string& out, Instant instant) {
  put_number(out, static_cast<std::uint64_t>(instant.time_since_epoch().count()));
}

inline void put_text(std::string& out, const std::string& text) {
  PENSTOCK_CHECK(text.size() <= kIdBytesMax);
  out.push_back(static_cast<char>(static_cast<unsigned char>(text.size())));
  out.append(text);
}

// The value of a record that says all by its key.
inline std::string encode_mark() { return {static_cast<char>(kFormat)}; }

// As put_text, for texts that callers bound otherwise.
inline void put_long_text(std::string& out, std::string_view text) {
  PENSTOCK_CHECK(text.size() <= UINT32_MAX);
  put_number(out, static_cast<std::uint32_t>(text.size()));
  out.append(text);
}

// Sorts as the instants do, those before 1970 too.
inline std::uint64_t sorted_number(Instant instant) {
  return static_cast<std::uint64_t>(instant.time_since_epoch().count()) ^ kSignBit;
}
inline Instant from_sorted_number(std::uint64_t number) {
  return Instant{Micros{static_cast<std::int64_t>(number ^ kSignBit)}};
}
inline void put_sorted_micros(std::string& out, Instant instant) {
  put_number(out, sorted_number(instant));
}

// Takes fields off the front; remembers the first problem and gives zeros after it, so that a
// decoder reads all its fields and asks once.
class ByteReader {
 public:
  ByteReader(std::string_view what, std::string_view bytes) : what_(what), rest_(bytes) {}

  template <class Unsigned>
  Unsigned number() {
    const std::string_view bytes = take(sizeof(Unsigned));
    Unsigned value = 0;
    for (const char byte : bytes) {
      value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(byte));
    }
    return value;
  }

  void format() {
    if (number<std::uint8_t>() != kFormat) refuse("is of a format this version does not know");
  }

  Instant micros() { return Instant{Micros{static_cast<std::int64_t>(number<std::uint64_t>())}}; }

  Instant sorted_micros() { return from_sorted_number(number<std::uint64_t>()); }

  std::string_view text() { return take(number<std::uint8_t>()); }
  std::string_view long_text() { return take(number<std::uint32_t>()); }
  std::string_view rest() { return take(rest_.size()); }
  bool at_end() const { return rest_.empty(); }

  // Everything up to a NUL, which no id or key contains.
  std::string_view text_to_nul() {
    const std::size_t length = rest_.find('\0');
    if (length == std::string_view::npos) {
      refuse("is cut short");
      return {};
    }
    const std::string_view text = take(length);
    take(1);
    return text;
  }

  void refuse(std::string_view problem) {
    if (problem_.empty()) problem_ = problem;
  }

  template <class T>
  Result<T> done(T value) {
    if (!rest_.empty()) refuse("is too long");
    if (problem_.empty()) return value;
    return fail(ErrorKind::corrupt, std::string(what_) + " " + std::string(problem_));
  }

 private:
  std::string_view take(std::size_t size) {
    if (rest_.size() < size) {
      refuse("is cut short");
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view what_;
  std::string_view rest_;
  std::string_view problem_;
};

}  // namespace penstock::store::embedded
