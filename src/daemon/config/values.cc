#include "daemon/config/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/iso8601.h"
#include "base/nearest.h"
#include "core/limits/limit.h"
#include "core/policy/decision.h"
#include "front/http/server/request_guard.h"

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
constexpr std::size_t kTopicsMax = 64;         // each has two series of metrics
constexpr std::size_t kTopicBytesMax = 249;    // Kafka's own limit

std::unexpected<Error> refused() { return fail(ErrorKind::invalid, ""); }

// Texts that are kept as they are when they pass.
template <auto allows>
Result<FieldValue> parse_text(std::string_view text) {
  if (!allows(text)) return refused();
  return FieldValue(std::string(text));
}

// Lists of entries that all pass.
template <auto allows>
Result<FieldValue> parse_each(std::string_view text) {
  std::vector<std::string> entries = split_list(text);
  if (!std::ranges::all_of(entries, allows)) return refused();
  return FieldValue(std::move(entries));
}

// Lists that must mean something as a whole.
template <auto meaning>
Result<FieldValue> parse_whole(std::string_view text) {
  std::vector<std::string> entries = split_list(text);
  if (!meaning(entries)) return refused();
  return FieldValue(std::move(entries));
}

std::string join(const FieldValue& value) {
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), ","));
}

Result<FieldValue> parse_boolean(std::string_view text) {
  if (text != "true" && text != "false") return refused();
  return FieldValue(text == "true");
}

std::string format_boolean(const FieldValue& value) {
  return std::get<bool>(value) ? "true" : "false";
}

Result<FieldValue> parse_count(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return refused();
  return FieldValue(number);
}

std::string format_count(const FieldValue& value) {
  return fmt::format("{}", std::get<std::int64_t>(value));
}

Result<FieldValue> parse_bytes(std::string_view text) {
  std::int64_t unit = 1;
  for (const ByteUnit& candidate : kByteUnits) {
    if (text.ends_with(candidate.suffix)) {
      unit = candidate.bytes;
      text.remove_suffix(candidate.suffix.size());
      if (text.ends_with(' ')) text.remove_suffix(1);
      break;
    }
  }
  const FieldValue number = PENSTOCK_TRY(parse_count(text));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(std::get<std::int64_t>(number), unit, &bytes)) return refused();
  return FieldValue(bytes);
}

std::string format_bytes(const FieldValue& value) {
  const std::int64_t bytes = std::get<std::int64_t>(value);
  for (const ByteUnit& unit : kByteUnits) {
    if (bytes > 0 && bytes % unit.bytes == 0) {
      return fmt::format("{}{}", bytes / unit.bytes, unit.suffix);
    }
  }
  return fmt::format("{}", bytes);
}

Result<FieldValue> parse_millis(std::string_view text) {
  const Result<Millis> duration = parse_duration(text);
  if (!duration) return refused();
  return FieldValue(std::int64_t{duration->count()});
}

std::string format_millis(const FieldValue& value) {
  return format_duration(Millis{std::get<std::int64_t>(value)});
}

Result<FieldValue> parse_listen(std::string_view text) {
  return FieldValue(wire::format_listen(PENSTOCK_TRY(wire::parse_listen(text))));
}

bool is_anything(std::string_view) { return true; }
bool is_path(std::string_view text) { return !text.empty() && text.find('\0') == text.npos; }
bool is_name(std::string_view text) { return id_problem(text).empty(); }
bool is_decimal(std::string_view text) { return core::parse_rate(text).has_value(); }
bool is_connection(std::string_view text) {
  return !text.empty() && text.size() <= kConnectionMax &&
         std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}
std::string hide_password(const FieldValue& value) {
  return without_password(std::get<std::string>(value));
}

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// "a, b or c", "a|b|c"
std::string listed(std::span<const std::string_view> words, std::string_view between,
                   std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? last : between;
    out += words[i];
  }
  return out;
}

std::string range_in_words(const FieldInfo& field, const Form& form) {
  if (field.kind != FieldKind::integer && field.kind != FieldKind::duration) return {};
  if (field.max == kNoMax) {
    return field.min == 0 ? "" : fmt::format(" of at least {}", form.format(field.min));
  }
  return fmt::format(" from {} to {}", form.format(field.min), form.format(field.max));
}

bool fits(const FieldInfo& field, const FieldValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return *number >= field.min && *number <= field.max;
  }
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr || field.choices.empty() ||
         std::ranges::find(field.choices, *text) != field.choices.end();
}

using Parse = Result<FieldValue> (*)(std::string_view text);
using Format = std::string (*)(const FieldValue& value);

consteval Form number(std::string_view words, std::string_view brief, Parse parse, Format format) {
  return {.words = words, .brief = brief, .parse = parse, .format = format};
}
consteval Form word(std::string_view words, std::string_view brief, Parse parse,
                    std::string_view value_name = "VALUE") {
  return {.words = words, .brief = brief, .value_name = value_name, .parse = parse};
}
consteval Form list(std::string_view words, std::string_view brief, Parse parse) {
  return {.words = words, .brief = brief, .parse = parse, .format = join, .list = true};
}

constexpr std::array<std::pair<std::string_view, wire::KeyPart>, 4> kKeyParts{{
    {"ip", wire::KeyPart::ip},
    {"api-key", wire::KeyPart::api_key},
    {"user", wire::KeyPart::user},
    {"route", wire::KeyPart::route},
}};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<wire::KeyRule> parse_key_rule(std::string_view text) {
  wire::KeyRule rule;
  for (const std::string_view word : split(text, '+')) {
    const auto* const found =
        std::ranges::find(kKeyParts, word, &std::pair<std::string_view, wire::KeyPart>::first);
    if (found == kKeyParts.end()) return std::nullopt;
    if (std::ranges::find(rule, found->second) != rule.end()) return std::nullopt;
    rule.push_back(found->second);
  }
  return rule;
}

}  // namespace

constexpr Form kBoolean{.words = "true or false", .parse = parse_boolean, .format = format_boolean};
constexpr Form kCount = number("a whole number", "whole number", parse_count, format_count);
constexpr Form kBytes =
    number("a size in bytes (1024, 64KiB, 16MiB)", "size", parse_bytes, format_bytes);
constexpr Form kDuration =
    number("an ISO-8601 duration (PT0.5S, PT10S, P1D)", "duration", parse_millis, format_millis);
constexpr Form kChoice{.parse = parse_text<is_anything>};
constexpr Form kPath = word("a path", "path", parse_text<is_path>, "PATH");
constexpr Form kConnection{.words = "a URI or keywords of 1 to 4096 characters on one line",
                           .brief = "URI or keywords",
                           .parse = parse_text<is_connection>,
                           .format = hide_password,
                           .hidden = true};
constexpr Form kName = word("a name of 1 to 128 printable ASCII characters without spaces", "name",
                            parse_text<is_name>);
constexpr Form kListen = word("ADDR:PORT with an IP address, such as 127.0.0.1:8080 or [::1]:8080",
                              "ADDR:PORT", parse_listen, "ADDR:PORT");
constexpr Form kDecimal = word("a decimal number above 0, such as 10 or 0.5",
                               "decimal number above 0", parse_text<is_decimal>);
constexpr Form kHeader =
    word("the name of a header, such as X-User-Id", "name of a header", parse_text<is_header_name>);
constexpr Form kBlocks = list(
    "a list of IP addresses and networks, such as [10.0.0.0/8, \"::1\"] (the bits behind a "
    "network's prefix are 0)",
    "list of addresses and networks", parse_whole<parse_address_blocks>);
constexpr Form kKeyRules = list(
    "a list of 1 to 16 lists of the words ip, api-key, user and route, such as [[ip], [user, "
    "route]]",
    "list of lists of ip, api-key, user, route", parse_whole<parse_key_rules>);
constexpr Form kTopics =
    list("a list of 1 to 64 pairs topic=ITEM_TYPE, each topic once, such as [payments=PAYMENT]",
         "list of topic=ITEM_TYPE", parse_whole<parse_intake_topics>);
constexpr Form kHosts = list(
    "a list of host names and addresses, each with or without a port, such as "
    "[penstock.example.com, \"192.0.2.1:8080\"]",
    "list of hosts", parse_each<front::is_host>);
constexpr Form kOrigins =
    list("a list of origins as browsers send them, such as [\"https://admin.example.com\"]",
         "list of origins", parse_each<front::is_origin>);

Result<FieldValue> parse_value(const FieldInfo& field, const Form& form, std::string_view text) {
  Result<FieldValue> value = form.parse(text);
  if (value && fits(field, *value)) return value;
  if (!value && !value.error().what.empty()) return value;
  const std::string words = "must be " + words_for(field, form);
  return fail(ErrorKind::invalid,
              form.hidden ? words : fmt::format("{}, not {}", words, shown(text)));
}

std::string format_value(const Form& form, const FieldValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return {};
  return form.format == nullptr ? std::get<std::string>(value) : form.format(value);
}

std::string words_for(const FieldInfo& field, const Form& form) {
  if (!field.choices.empty()) return listed(field.choices, ", ", " or ");
  return std::string(form.words) + range_in_words(field, form);
}

std::string brief_words_for(const FieldInfo& field, const Form& form) {
  if (form.brief.empty()) return words_for(field, form);
  return std::string(form.brief) + range_in_words(field, form);
}

std::string value_name_for(const FieldInfo& field, const Form& form) {
  if (field.choices.empty()) return std::string(form.value_name);
  return listed(field.choices, "|", "|");
}

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

std::vector<std::string> split_list(std::string_view text) {
  std::string tidy(text);
  std::erase(tidy, ' ');
  if (tidy.empty()) return {};
  const std::vector<std::string_view> entries = split(tidy, ',');
  return {entries.begin(), entries.end()};
}

std::optional<std::vector<wire::CidrBlock>> parse_address_blocks(
    const std::vector<std::string>& entries) {
  std::vector<wire::CidrBlock> blocks;
  for (const std::string& entry : entries) {
    const auto block = wire::parse_cidr_block(entry);
    if (!block) return std::nullopt;
    blocks.push_back(*block);
  }
  return blocks;
}

std::vector<std::string> format_address_blocks(const std::vector<wire::CidrBlock>& blocks) {
  std::vector<std::string> entries;
  for (const wire::CidrBlock& block : blocks) {
    std::string& entry = entries.emplace_back();
    wire::append_ip_address(entry, block.address);
    entry += fmt::format("/{}", block.address.is_v4() ? block.bits - 96 : block.bits);
  }
  return entries;
}

std::optional<std::vector<wire::KeyRule>> parse_key_rules(const std::vector<std::string>& entries) {
  std::vector<wire::KeyRule> rules;
  for (const std::string& entry : entries) {
    auto rule = parse_key_rule(entry);
    if (!rule || rules.size() == core::kThrottleKeysMax) return std::nullopt;
    rules.push_back(std::move(*rule));
  }
  if (rules.empty()) return std::nullopt;
  return rules;
}

std::vector<std::string> format_key_rules(const std::vector<wire::KeyRule>& rules) {
  std::vector<std::string> entries;
  for (const wire::KeyRule& rule : rules) {
    std::string& entry = entries.emplace_back();
    for (const wire::KeyPart part : rule) {
      if (!entry.empty()) entry += '+';
      entry +=
          std::ranges::find(kKeyParts, part, &std::pair<std::string_view, wire::KeyPart>::second)
              ->first;
    }
  }
  return entries;
}

std::optional<std::map<std::string, ItemType>> parse_intake_topics(
    const std::vector<std::string>& entries) {
  if (entries.empty() || entries.size() > kTopicsMax) return std::nullopt;
  std::map<std::string, ItemType> topics;
  for (const std::string_view entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos || !is_topic(entry.substr(0, equals))) return std::nullopt;
    Result<ItemType> type = ItemType::parse("item type", entry.substr(equals + 1));
    if (!type || !topics.emplace(entry.substr(0, equals), std::move(*type)).second) {
      return std::nullopt;
    }
  }
  return topics;
}

std::vector<std::string> format_intake_topics(const std::map<std::string, ItemType>& topics) {
  std::vector<std::string> entries;
  for (const auto& [topic, type] : topics) entries.push_back(topic + "=" + type.str());
  return entries;
}

bool is_topic(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kTopicBytesMax && text != "." && text != ".." &&
         std::ranges::all_of(text, [](char c) {
           return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
         });
}

bool is_header_name(std::string_view text) noexcept {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";  // RFC 9110: the marks of a token
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [&](char c) {
    return is_letter_or_digit(c) || kMarks.find(c) != kMarks.npos;
  });
}

}  // namespace penstock::daemon
