#include "wire/retry_after.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/ascii.h"

namespace penstock::wire {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                   "Friday", "Saturday", "Sunday"};

// Reads from the front; the first thing that is not there makes it fail for good.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool ended_well() const { return ok_ && text_.empty(); }

  bool try_text(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  void text(std::string_view expected) { ok_ = try_text(expected) && ok_; }

  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i >= text_.size() || !is_digit(text_[i])) {
        ok_ = false;
        return 0;
      }
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return value;
  }

  unsigned month() {
    for (std::size_t i = 0; i < kMonths.size(); ++i) {
      if (try_text(kMonths[i])) return static_cast<unsigned>(i + 1);
    }
    ok_ = false;
    return 0;
  }

  // True: a whole name, else its first three letters.
  bool day_name_is_long() {
    for (const std::string_view day : kDays) {
      if (try_text(day)) return true;
      if (try_text(day.substr(0, 3))) return false;
    }
    ok_ = false;
    return false;
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

struct Moment {
  int year = 0;
  unsigned month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

void read_time(Reader& reader, Moment& at) {
  at.hour = reader.digits(2);
  reader.text(":");
  at.minute = reader.digits(2);
  reader.text(":");
  at.second = reader.digits(2);
}

std::optional<Instant> instant_of(const Moment& at) {
  using namespace std::chrono;
  const year_month_day date{year{at.year}, month{at.month}, day{static_cast<unsigned>(at.day)}};
  // A leap second is the second after it.
  if (!date.ok() || at.hour > 23 || at.minute > 59 || at.second > 60) return std::nullopt;
  const Seconds since_epoch =
      sys_days{date}.time_since_epoch() + hours{at.hour} + minutes{at.minute} + Seconds{at.second};
  return Instant{since_epoch};
}

// RFC 9110: more than 50 years ahead means the past.
int full_year(int two_digits, Instant now) {
  const auto today = std::chrono::floor<std::chrono::days>(now.time_since_epoch());
  const int this_year =
      static_cast<int>(std::chrono::year_month_day{std::chrono::sys_days{today}}.year());
  const int year = this_year - this_year % 100 + two_digits;
  return year > this_year + 50 ? year - 100 : year;
}

}  // namespace

std::optional<Instant> parse_http_date(std::string_view text, Instant now) noexcept {
  Reader reader(text);
  Moment at;
  const bool is_old = reader.day_name_is_long();
  if (reader.try_text(", ")) {
    const std::string_view separator = is_old ? "-" : " ";
    at.day = reader.digits(2);
    reader.text(separator);
    at.month = reader.month();
    reader.text(separator);
    at.year = is_old ? full_year(reader.digits(2), now) : reader.digits(4);
    reader.text(" ");
    read_time(reader, at);
    reader.text(" GMT");
  } else {
    reader.text(" ");
    at.month = reader.month();
    reader.text(" ");
    at.day = reader.try_text(" ") ? reader.digits(1) : reader.digits(2);
    reader.text(" ");
    read_time(reader, at);
    reader.text(" ");
    at.year = reader.digits(4);
    if (is_old) return std::nullopt;
  }
  if (!reader.ended_well()) return std::nullopt;
  return instant_of(at);
}

std::optional<Millis> parse_retry_after(std::string_view value, Instant now) noexcept {
  if (value.empty()) return std::nullopt;
  if (!std::ranges::all_of(value, is_digit)) {
    const std::optional<Instant> at = parse_http_date(value, now);
    if (!at) return std::nullopt;
    return std::clamp(std::chrono::ceil<Millis>(*at - now), Millis{0}, kRetryAfterMax);
  }
  constexpr std::int64_t kMost = std::chrono::duration_cast<Seconds>(kRetryAfterMax).count();
  std::int64_t seconds = 0;
  for (const char c : value) seconds = std::min(seconds * 10 + (c - '0'), kMost);
  return Seconds{seconds};
}

}  // namespace penstock::wire
