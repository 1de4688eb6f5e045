#include "wire/batch.h"

#include <algorithm>
#include <string>

namespace penstock::wire {
namespace {

using Entry = std::function<void(const Result<JsonValue>&)>;

std::unexpected<Error> too_long() {
  return fail(ErrorKind::too_large,
              "a batch has at most " + std::to_string(kBatchEntriesMax) + " entries");
}

Result<void> for_each_element(std::string_view body, const Entry& entry) {
  const Result<JsonDocument> document = parse_json(body);
  if (!document) return std::unexpected(document.error());
  const JsonValue root = document->root();
  if (root.type() != JsonType::array) {
    return fail(ErrorKind::invalid,
                "the request must be an array, not " + std::string(to_string(root.type())));
  }
  if (root.size() > kBatchEntriesMax) return too_long();
  for (JsonValue element = root.first(); element; element = element.next()) entry(element);
  return {};
}

bool is_blank(std::string_view line) noexcept {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

Result<void> for_each_line(std::string_view body, const Entry& entry) {
  std::size_t entries = 0;
  while (!body.empty()) {
    const std::size_t newline = body.find('\n');
    const std::string_view line = body.substr(0, newline);
    body.remove_prefix(newline == std::string_view::npos ? body.size() : newline + 1);
    if (is_blank(line)) continue;
    if (++entries > kBatchEntriesMax) return too_long();
    const Result<JsonDocument> document = parse_json(line);
    if (document) {
      entry(document->root());
    } else {
      entry(std::unexpected(document.error()));
    }
  }
  return {};
}

}  // namespace

std::size_t entries_at_most(std::string_view body) noexcept {
  if (body.empty()) return 0;
  const auto separators = std::ranges::count_if(body, [](char c) { return c == ',' || c == '\n'; });
  return std::min(static_cast<std::size_t>(separators) + 1, kBatchEntriesMax);
}

Result<void> for_each_entry(std::string_view body, BatchFormat format, const Entry& entry) {
  return format == BatchFormat::ndjson ? for_each_line(body, entry) : for_each_element(body, entry);
}

}  // namespace penstock::wire
