#include "front/resp/throttle_batch.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/check.h"
#include "core/limits/limit.h"
#include "wire/resp_writer.h"

namespace penstock::front {
namespace {

// How far back usage is counted for people; it decides nothing.
constexpr Seconds kUsageWindow{60};
// An argument that is no number is shown up to here.
constexpr std::size_t kShownNumberBytesMax = 64;

// As Rust reads an i64: a sign or none, digits, nothing else.
bool parse_integer(std::string_view text, std::int64_t& value) noexcept {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end;
}

// Rounded up when there are whole milliseconds beyond the second; what is less is dropped.
std::int64_t to_seconds(Micros wait) noexcept {
  const std::int64_t millis = wait.count() / 1'000;
  return millis / 1'000 + (millis % 1'000 > 0 ? 1 : 0);
}

char* append_integer(char* at, std::int64_t value) noexcept {
  *at++ = ':';
  at = std::to_chars(at, at + 20, value).ptr;
  *at++ = '\r';
  *at++ = '\n';
  return at;
}

void append_reply(std::string& out, const core::LimitStatus& status) {
  // Five integers of at most 20 characters, three more each, and the header.
  char buffer[4 + 5 * 23];
  char* at = std::ranges::copy(std::string_view("*5\r\n"), buffer).out;
  at = append_integer(at, status.admitted ? 0 : 1);
  at = append_integer(at, status.limit);
  at = append_integer(at, status.remaining);
  const bool waits = !status.admitted && status.retry_after != core::kNever;
  at = append_integer(at, waits ? to_seconds(status.retry_after) : -1);
  at = append_integer(at, to_seconds(status.reset_after));
  out.append(buffer, static_cast<std::size_t>(at - buffer));
}

}  // namespace

ThrottleBatch::ThrottleBatch(RespState& state, std::vector<RespReply>& replies)
    : state_(state), replies_(replies) {
  for (std::size_t i = 0; i < kCallsMax; ++i) {
    checks_[i].limit = {.type = core::LimitType::gcra, .window = kUsageWindow};
    requests_[i] = {.checks = {&checks_[i], 1}, .statuses = {&statuses_[i], 1}};
  }
}

bool ThrottleBatch::add(std::span<const std::string_view> arguments, std::string& problem) {
  PENSTOCK_CHECK(size_ < kCallsMax);
  if (arguments.size() != 5 && arguments.size() != 6) {
    problem = "ERR Usage: CL.THROTTLE <key> <max_burst> <count per period> <period> [<quantity>]";
    return false;
  }
  std::array<std::int64_t, 4> numbers{0, 0, 0, 1};  // max_burst, count, period, quantity
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    if (parse_integer(arguments[i], numbers[i - 2])) continue;
    problem = fmt::format("ERR Couldn't parse as integer: {}",
                          arguments[i].substr(0, kShownNumberBytesMax));
    return false;
  }
  const auto [max_burst, count, period, quantity] = numbers;
  const std::string_view key = arguments[1];
  if (key.size() > kThrottleKeyBytesMax) {
    problem = "ERR key: must have at most 511 bytes";
    return false;
  }
  if (max_burst < 0 || max_burst >= core::kCapacityMax) {
    problem = "ERR max_burst: must be from 0 to 999999999999";
    return false;
  }
  const core::Rate* const rate = find_rate(count, period, problem);
  if (rate == nullptr) return false;

  char* const place = keys_.data() + key_bytes_;
  place[0] = kThrottleKeyPrefix;
  std::memcpy(place + 1, key.data(), key.size());
  key_bytes_ += key.size() + 1;
  store::LimitCheck& check = checks_[size_];
  check.key = {place, key.size() + 1};
  check.limit.capacity = max_burst + 1;
  check.limit.refill = *rate;
  requests_[size_].cost = quantity;
  ++size_;
  return true;
}

const core::Rate* ThrottleBatch::find_rate(std::int64_t count, std::int64_t period,
                                           std::string& problem) {
  const auto mixed = static_cast<std::uint64_t>(count) * 31 + static_cast<std::uint64_t>(period);
  KnownRate& known = rates_[mixed % kRatesKept];
  if (known.count == count && known.period == period && count != 0) return &known.rate;
  if (count == 0 || period == 0) {
    problem = "ERR Zero rates are not supported";
    return nullptr;
  }
  const Result<core::Rate> rate = core::rate_per(count, Seconds{period});
  if (!rate) {
    problem = "ERR " + rate.error().what;
    return nullptr;
  }
  known = {.count = count, .period = period, .rate = *rate};
  return &known.rate;
}

void ThrottleBatch::leave(RespConnection& connection) {
  shares_.push_back({.connection = &connection, .end = size_});
}

void ThrottleBatch::append_answer(std::size_t call, std::string& out) {
  if (answers_[call]) [[likely]] {
    append_reply(out, statuses_[call]);
  } else {
    wire::RespWriter(out, wire::RespVersion::v2).error("ERR " + answers_[call].error().what);
  }
}

std::size_t ThrottleBatch::decide(std::string& out) {
  state_.throttle.ask_client_limits({requests_.data(), size_}, {answers_.data(), size_});
  std::size_t call = 0;
  for (const Share& share : shares_) {
    const std::size_t from = out.size();
    for (; call < share.end; ++call) append_answer(call, out);
    replies_.push_back({.connection = share.connection, .from = from, .end = out.size()});
  }
  const std::size_t rest = out.size();
  for (; call < size_; ++call) append_answer(call, out);
  shares_.clear();
  size_ = 0;
  key_bytes_ = 0;
  return rest;
}

}  // namespace penstock::front
