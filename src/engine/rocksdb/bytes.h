// Numbers and texts as bytes, and back: what all records of the store are made of. Numbers are
// big-endian, so that keys sort as their contents do. Reading is total. Pure.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

  // Fields of a layout, see ByteWriter.
  void tag(char expected) {
    if (number<std::uint8_t>() != static_cast<std::uint8_t>(expected)) refuse("is of another kind");
  }
  template <class Unsigned>
  void number(Unsigned& to) {
    to = number<Unsigned>();
  }
  void micros(Instant& to) { to = micros(); }
  void count(int& to) {
    const auto value = number<std::uint32_t>();
    if (value > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) {
      return refuse("has a number out of range");
    }
    to = static_cast<int>(value);
  }
  void count(std::int64_t& to) {
    const auto value = number<std::uint64_t>();
    if (value >= kSignBit) return refuse("has a count out of range");
    to = static_cast<std::int64_t>(value);
  }
  template <class Duration>
  void duration(Duration& to, Duration max) {
    std::int64_t value = 0;
    count(value);
    if (value > max.count()) return refuse("has a duration out of range");
    to = Duration{value};
  }
  template <class Enum>
  void choice(Enum& to, std::size_t choices) {
    const auto byte = number<std::uint8_t>();
    if (byte >= choices) return refuse("has a word this version does not know");
    to = static_cast<Enum>(byte);
  }
  void flag(bool& to) { choice(to, 2); }
  template <class... T>
  void presence(std::optional<T>&... values) {
    const auto flags = number<std::uint8_t>();
    if (flags >> sizeof...(T) != 0) refuse("has an unknown flag");
    unsigned bit = 1;
    const auto one = [&](auto& value) {
      if ((flags & bit) != 0) value.emplace();
      bit <<= 1;
    };
    (one(values), ...);
  }
  void bytes(auto& to) {
    for (std::uint8_t& byte : to) byte = number<std::uint8_t>();
  }
  void long_text(std::string& to) { to = long_text(); }
  template <class Id>
  void id(Id& to) {
    to = id_of<Id>(text());
  }
  template <class Id>
  void maybe_id(Id& to) {  // empty = none
    if (const std::string_view name = text(); !name.empty()) to = id_of<Id>(name);
  }
  template <class Id>
  void ids(std::vector<Id>& to) {
    const auto listed = number<std::uint32_t>();
    // Ends with the bytes, whatever the count says.
    for (std::uint32_t i = 0; i < listed && !at_end(); ++i) id(to.emplace_back());
    if (to.size() != listed) refuse("is cut short");
  }
  template <class Id>
  Id id_of(std::string_view name) {
    if (id_problem(name).empty()) return Id::trusted(std::string(name));
    refuse("has a malformed id");
    return {};
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

// A record's layout is said once, in a function that names its fields in their order:
//   void lay_out(auto& io, Is<LeaseRecord> auto& lease) {
//     io.format();
//     io.number(lease.token);
//   }
// With a ByteWriter it appends them, with a ByteReader it fills them.
template <class T, class Record>
concept Is = std::same_as<std::remove_const_t<T>, Record>;

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void format() { put_number(out_, kFormat); }
  template <class Unsigned>
  void number(Unsigned value) {
    put_number(out_, value);
  }
  void micros(Instant instant) { put_micros(out_, instant); }
  void count(int value) { put_number(out_, static_cast<std::uint32_t>(value)); }
  void count(std::int64_t value) { put_signed(out_, value); }
  template <class Duration>
  void duration(Duration value, Duration /*max*/) {
    put_signed(out_, value.count());
  }
  template <class Enum>
  void choice(Enum value, std::size_t /*choices*/) {
    put_number(out_, static_cast<std::uint8_t>(value));
  }
  void flag(bool value) { choice(value, 2); }
  template <class... T>
  void presence(const std::optional<T>&... values) {
    unsigned flags = 0;
    unsigned bit = 1;
    ((flags |= values ? bit : 0, bit <<= 1), ...);
    put_number(out_, static_cast<std::uint8_t>(flags));
  }
  void bytes(const auto& bytes) { out_.append(bytes.begin(), bytes.end()); }
  void long_text(std::string_view text) { put_long_text(out_, text); }
  void id(const auto& id) { put_text(out_, id.str()); }
  void maybe_id(const auto& id) { put_text(out_, id.str()); }
  template <class Id>
  void ids(const std::vector<Id>& ids) {
    put_number(out_, static_cast<std::uint32_t>(ids.size()));
    for (const Id& each : ids) id(each);
  }

 private:
  std::string& out_;
};

// By their layouts. `what` stands in front of what is wrong.
template <class Record>
std::string encoded(const Record& record) {
  std::string out;
  ByteWriter io(out);
  lay_out(io, record);
  return out;
}
template <class Record>
Result<Record> decoded(std::string_view what, std::string_view bytes) {
  ByteReader io(what, bytes);
  Record record{};
  lay_out(io, record);
  return io.done(std::move(record));
}

}  // namespace penstock::store::embedded
