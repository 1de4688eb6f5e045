#include "daemon/config/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/ids.h"
#include "base/iso8601.h"
#include "base/nearest.h"
#include "core/limits/limit.h"
#include "daemon/config/intake_values.h"
#include "daemon/config/throttle_values.h"
#include "front/http/request_guard.h"

namespace penstock::daemon {
namespace {

struct ByteUnit {
  std::string_view suffix;
  std::int64_t bytes;
};
// Largest first. Binary units only: "16MB" could mean two things, so it is refused.
constexpr std::array kByteUnits{
    ByteUnit{"TiB", std::int64_t{1} << 40}, ByteUnit{"GiB", std::int64_t{1} << 30},
    ByteUnit{"MiB", std::int64_t{1} << 20}, ByteUnit{"KiB", std::int64_t{1} << 10}};

constexpr std::size_t kConnectionMax = 4'096;  // several hosts with all their options

std::unexpected<Error> must_be(const ValueType& type, std::string_view text) {
  return fail(ErrorKind::invalid, fmt::format("must be {}, not {}", describe(type), shown(text)));
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> byte_size(std::string_view text) {
  std::int64_t unit = 1;
  for (const ByteUnit& candidate : kByteUnits) {
    if (text.ends_with(candidate.suffix)) {
      unit = candidate.bytes;
      text.remove_suffix(candidate.suffix.size());
      if (text.ends_with(' ')) text.remove_suffix(1);
      break;
    }
  }
  const std::optional<std::int64_t> number = whole_number(text);
  std::int64_t bytes = 0;
  if (!number || __builtin_mul_overflow(*number, unit, &bytes)) return std::nullopt;
  return bytes;
}

std::string format_bytes(std::int64_t bytes) {
  for (const ByteUnit& unit : kByteUnits) {
    if (bytes > 0 && bytes % unit.bytes == 0) {
      return fmt::format("{}{}", bytes / unit.bytes, unit.suffix);
    }
  }
  return fmt::format("{}", bytes);
}

bool is_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t bar = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, bar) == text) return true;
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return false;
}

bool is_connection(std::string_view text) {
  return !text.empty() && text.size() <= kConnectionMax &&
         std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// "a|b|c" -> "a, b or c"
std::string choices_in_words(std::string_view choices) {
  std::string words(choices);
  if (const std::size_t last = words.rfind('|'); last != words.npos) words.replace(last, 1, " or ");
  for (std::size_t bar = words.find('|'); bar != words.npos; bar = words.find('|', bar)) {
    words.replace(bar, 1, ", ");
  }
  return words;
}

std::string range_in_words(const ValueType& type, std::string (*format)(std::int64_t)) {
  if (type.max == std::numeric_limits<std::int64_t>::max()) {
    return type.min == 0 ? "" : fmt::format(" of at least {}", format(type.min));
  }
  return fmt::format(" from {} to {}", format(type.min), format(type.max));
}

std::string format_count(std::int64_t count) { return fmt::format("{}", count); }
std::string format_millis(std::int64_t millis) { return format_duration(Millis{millis}); }

}  // namespace

std::string without_password(std::string_view connection) {
  std::string text(connection);
  if (const std::size_t scheme = text.find("://"); scheme != text.npos) {
    const std::size_t begin = scheme + 3;
    // A password may itself hold an @ that somebody forgot to encode: the last one counts.
    const std::size_t at = text.rfind('@', text.find_first_of("/?", begin));
    const std::size_t colon = text.find(':', begin);
    if (at != text.npos && at > begin && colon < at) {
      text.replace(colon + 1, at - colon - 1, "***");
    }
  }
  constexpr std::string_view kWord = "password";
  for (std::size_t word = text.find(kWord); word != text.npos; word = text.find(kWord, word)) {
    word = text.find_first_not_of(' ', word + kWord.size());
    if (word == text.npos || text[word] != '=') continue;
    const std::size_t begin = text.find_first_not_of(' ', word + 1);
    if (begin == text.npos) break;
    std::size_t end = text.find_first_of(" &", begin);
    if (text[begin] == '\'') {
      end = begin + 1;
      while (end < text.size() && text[end] != '\'') end += text[end] == '\\' ? 2 : 1;
      ++end;
    }
    text.replace(begin, std::min(end, text.size()) - begin, "***");
    word = begin;
  }
  return text;
}

std::string describe(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::boolean:
      return "true or false";
    case ValueKind::count:
      return "a whole number" + range_in_words(type, format_count);
    case ValueKind::bytes:
      return "a size in bytes (1024, 64KiB, 16MiB)" + range_in_words(type, format_bytes);
    case ValueKind::duration:
      return "an ISO-8601 duration (PT0.5S, PT10S, P1D)" + range_in_words(type, format_millis);
    case ValueKind::choice:
      return choices_in_words(type.choices);
    case ValueKind::path:
      return "a path";
    case ValueKind::connection:
      return "a URI or keywords of 1 to 4096 characters on one line";
    case ValueKind::id:
      return "a name of 1 to 128 printable ASCII characters without spaces";
    case ValueKind::listen:
      return "ADDR:PORT with an IP address, such as 127.0.0.1:8080 or [::1]:8080";
    case ValueKind::decimal:
      return "a decimal number above 0, such as 10 or 0.5";
    case ValueKind::header:
      return "the name of a header, such as X-User-Id";
    case ValueKind::blocks:
      return "a list of IP addresses and networks, such as [10.0.0.0/8, \"::1\"] (the bits behind "
             "a network's prefix are 0)";
    case ValueKind::rules:
      return "a list of 1 to 16 lists of the words ip, api-key, user and route, such as [[ip], "
             "[user, route]]";
    case ValueKind::topics:
      return "a list of 1 to 64 pairs topic=ITEM_TYPE, each topic once, such as "
             "[payments=PAYMENT]";
    case ValueKind::hosts:
      return "a list of host names and addresses, each with or without a port, such as "
             "[penstock.example.com, \"192.0.2.1:8080\"]";
    case ValueKind::origins:
      return "a list of origins as browsers send them, such as [\"https://admin.example.com\"]";
  }
  std::unreachable();
}

std::string describe_briefly(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::count:
      return "whole number" + range_in_words(type, format_count);
    case ValueKind::bytes:
      return "size" + range_in_words(type, format_bytes);
    case ValueKind::duration:
      return "duration" + range_in_words(type, format_millis);
    case ValueKind::path:
      return "path";
    case ValueKind::connection:
      return "URI or keywords";
    case ValueKind::id:
      return "name";
    case ValueKind::listen:
      return "ADDR:PORT";
    case ValueKind::decimal:
      return "decimal number above 0";
    case ValueKind::header:
      return "name of a header";
    case ValueKind::blocks:
      return "list of addresses and networks";
    case ValueKind::rules:
      return "list of lists of ip, api-key, user, route";
    case ValueKind::topics:
      return "list of topic=ITEM_TYPE";
    case ValueKind::hosts:
      return "list of hosts";
    case ValueKind::origins:
      return "list of origins";
    case ValueKind::boolean:
    case ValueKind::choice:
      break;
  }
  return describe(type);
}

Result<Value> parse_value(const ValueType& type, std::string_view text) {
  const auto in_range = [&](std::int64_t v) { return v >= type.min && v <= type.max; };
  switch (type.kind) {
    case ValueKind::boolean:
      if (text == "true") return true;
      if (text == "false") return false;
      break;
    case ValueKind::count:
      if (const auto number = whole_number(text); number && in_range(*number)) return *number;
      break;
    case ValueKind::bytes:
      if (const auto bytes = byte_size(text); bytes && in_range(*bytes)) return *bytes;
      break;
    case ValueKind::duration:
      if (const auto duration = parse_duration(text); duration && in_range(duration->count())) {
        return *duration;
      }
      break;
    case ValueKind::choice:
      if (is_choice(type.choices, text)) return std::string(text);
      break;
    case ValueKind::path:
      if (!text.empty() && text.find('\0') == text.npos) return std::string(text);
      break;
    case ValueKind::connection:
      if (is_connection(text)) return std::string(text);
      return fail(ErrorKind::invalid, "must be " + describe(type));  // it may hold a password
    case ValueKind::id:
      if (id_problem(text).empty()) return std::string(text);
      break;
    case ValueKind::listen: {
      return PENSTOCK_TRY(wire::parse_listen(text));
    }
    case ValueKind::decimal:
      if (core::parse_rate(text)) return std::string(text);
      break;
    case ValueKind::header:
      if (is_header_name(text)) return std::string(text);
      break;
    case ValueKind::blocks:
      if (parse_address_blocks(text)) return tidy_list(text);
      break;
    case ValueKind::rules:
      if (parse_key_rules(text)) return tidy_list(text);
      break;
    case ValueKind::topics:
      if (parse_intake_topics(text)) return tidy_list(text);
      break;
    case ValueKind::hosts:
      if (parse_list(text, front::is_host)) return tidy_list(text);
      break;
    case ValueKind::origins:
      if (parse_list(text, front::is_origin)) return tidy_list(text);
      break;
  }
  return must_be(type, text);
}

std::string format_value(const ValueType& type, const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return type.kind == ValueKind::bytes ? format_bytes(*number) : format_count(*number);
  }
  if (const auto* duration = std::get_if<Millis>(&value)) return format_duration(*duration);
  if (const auto* text = std::get_if<std::string>(&value)) {
    return type.kind == ValueKind::connection ? without_password(*text) : *text;
  }
  if (const auto* listen = std::get_if<wire::ListenAddress>(&value))
    return wire::format_listen(*listen);
  return {};
}

}  // namespace penstock::daemon
