#include "wire/bulk.h"

#include <algorithm>
#include <utility>

#include "base/iso8601.h"
#include "wire/json.h"

namespace penstock::wire {
namespace {

constexpr std::size_t kReasonBytesMax = 300;

std::string_view text_of(JsonValue object, std::string_view key) {
  if (object.type() != JsonType::object) return {};
  const JsonValue value = object.find(key);
  return value && value.type() == JsonType::string ? value.string() : std::string_view();
}

// Of an element of `items`: {"index": {…}}.
void judge(JsonValue item, BulkOutcome& outcome) {
  const JsonValue action = item.type() == JsonType::object ? item.first() : JsonValue(item);
  if (!action || action.type() != JsonType::object) return;
  const JsonValue status_value = action.find("status");
  const std::int64_t status = status_value && status_value.type() == JsonType::number
                                  ? status_value.integer().value_or(0)
                                  : 0;
  if (status >= 200 && status <= 299) return;
  if (status == 429 || status >= 500 || status == 0) {
    ++outcome.again;
    return;
  }
  std::string why(text_of(action, "_id"));
  if (const JsonValue error = action.find("error"); error && error.type() == JsonType::object) {
    why +=
        ": " + std::string(text_of(error, "type")) + ": " + std::string(text_of(error, "reason"));
  } else {
    why += ": status " + std::to_string(status);
  }
  why.resize(std::min(why.size(), kReasonBytesMax));
  outcome.rejected.push_back(std::move(why));
}

}  // namespace

void append_bulk_usage(std::string& out, std::string_view index, const BulkUsage& usage) {
  const std::string at = format_instant(usage.minute);
  JsonWriter head(96);
  head.begin_object()
      .key("index")
      .begin_object()
      .member("_index", index)
      .member("_id", std::to_string(usage.user) + "-" + at)
      .end_object()
      .end_object();
  out += std::move(head).take();
  out += '\n';
  JsonWriter body(128);
  body.begin_object()
      .member("@timestamp", usage.minute)
      .member("userId", usage.user)
      .member("sent", usage.sent)
      .member("limited", usage.limited)
      .member("failed", usage.failed)
      .end_object();
  out += std::move(body).take();
  out += '\n';
}

Result<BulkOutcome> decode_bulk_answer(std::string_view body) {
  const JsonDocument document = PENSTOCK_TRY(parse_json(body));
  const JsonValue root = document.root();
  BulkOutcome outcome;
  if (root.type() != JsonType::object) return fail(ErrorKind::invalid, "is no answer to a bulk");
  const JsonValue errors = root.find("errors");
  const JsonValue items = root.find("items");
  if (!errors || errors.type() != JsonType::boolean || !items || items.type() != JsonType::array) {
    return fail(ErrorKind::invalid, "is no answer to a bulk");
  }
  if (!errors.boolean()) return outcome;
  for (JsonValue item = items.first(); item; item = item.next()) judge(item, outcome);
  return outcome;
}

}  // namespace penstock::wire
