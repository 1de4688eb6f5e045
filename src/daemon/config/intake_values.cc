#include "daemon/config/intake_values.h"

#include <algorithm>
#include <utility>

#include "daemon/config/throttle_values.h"

namespace penstock::daemon {
namespace {

constexpr std::size_t kTopicsMax = 64;       // each has two series of metrics
constexpr std::size_t kTopicBytesMax = 249;  // Kafka's own limit

}  // namespace

bool is_topic(std::string_view text) {
  return !text.empty() && text.size() <= kTopicBytesMax && text != "." && text != ".." &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

std::optional<std::map<std::string, ItemType>> parse_intake_topics(std::string_view text) {
  std::map<std::string, ItemType> topics;
  const std::string tidy = tidy_list(text);
  std::string_view rest = tidy;
  for (;;) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos || !is_topic(entry.substr(0, equals))) return std::nullopt;
    Result<ItemType> type = ItemType::parse("item type", entry.substr(equals + 1));
    if (!type || topics.size() == kTopicsMax) return std::nullopt;
    if (!topics.emplace(entry.substr(0, equals), std::move(*type)).second) return std::nullopt;
    if (entry.size() == rest.size()) return topics;
    rest.remove_prefix(entry.size() + 1);
  }
}

}  // namespace penstock::daemon
