#include "front/http/routes/exchange.h"

#include <charconv>

#include "base/ascii.h"
#include "core/policy/throttle_key.h"
#include "wire/percent.h"

namespace penstock::front {
namespace {

std::string_view media_type(const Request& request) noexcept {
  std::string_view type = request.header("content-type");
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

Result<std::size_t> parse_limit(std::string_view text) {
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error == std::errc{} && end == text.data() + text.size() && limit >= 1 && limit <= kPageMax) {
    return limit;
  }
  return invalid_field("limit", "must be from 1 to " + std::to_string(kPageMax));
}

}  // namespace

Result<std::string> path_key(const Request& request) {
  const std::string& key = request.params.at(0);
  const std::string_view problem = core::throttle_key_problem(key);
  if (!problem.empty()) return invalid_field("key", problem);
  return key;
}

bool is_json(const Request& request) noexcept {
  const std::string_view type = media_type(request);
  return type.empty() || ascii_equal(type, "application/json");
}

bool is_csv(const Request& request) noexcept {
  return ascii_equal(media_type(request), "text/csv");
}

Result<wire::JsonDocument> read_json(const Request& request, Exchange& exchange) {
  if (!is_json(request)) return exchange.refusal(415, "send application/json");
  return wire::parse_json(request.body);
}

Result<wire::BatchFormat> batch_format_of(const Request& request, Exchange& exchange,
                                          std::string_view also) {
  if (is_json(request)) return wire::BatchFormat::json_array;
  const std::string_view type = media_type(request);
  if (ascii_equal(type, "application/x-ndjson") || ascii_equal(type, "application/ndjson")) {
    return wire::BatchFormat::ndjson;
  }
  return exchange.refusal(415, "send application/json or application/x-ndjson" + std::string(also));
}

Result<Page> page_of(const Request& request) {
  Page page;
  const auto limit = PENSTOCK_TRY(query_value(request, "limit", parse_limit));
  page.limit = limit.value_or(kPageDefault);
  std::optional<std::string> after = PENSTOCK_TRY(request.query_param("after"));
  page.after = std::move(after).value_or("");
  return page;
}

Header next_page_link(std::string_view path, std::size_t limit, std::string_view last) {
  const char* const join = path.find('?') == path.npos ? "?" : "&";
  std::string link = "<" + std::string(path) + join + "limit=" + std::to_string(limit) + "&after=";
  wire::append_percent_encoded(link, last);
  link += ">; rel=\"next\"";
  return {"Link", std::move(link)};
}

std::string entry_id(wire::JsonValue value, std::string_view id_field) {
  if (value.type() != wire::JsonType::object) return {};
  const wire::JsonValue id = value.find(id_field);
  return id && id.type() == wire::JsonType::string ? std::string(id.string()) : std::string();
}

wire::JsonWriter& begin_failure(wire::JsonWriter& out, std::string_view id_field,
                                std::string_view id, int status, std::string_view message) {
  return out.begin_object()
      .member(id_field, id)
      .member("status", status)
      .member("error", wire::reason_of(status))
      .member("message", message);
}

void encode_failure(wire::JsonWriter& out, std::string_view id_field, std::string_view id,
                    const Error& error) {
  begin_failure(out, id_field, id, wire::status_of(error.kind), error.what);
  if (!error.field.empty()) out.member("field", error.field);
  out.end_object();
}

}  // namespace penstock::front
