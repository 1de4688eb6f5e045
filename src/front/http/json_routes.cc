#include "front/http/json_routes.h"

#include "base/ascii.h"
#include "core/policy/throttle_key.h"

namespace penstock::front {
namespace {

constexpr std::string_view kSendJson = "send application/json";
constexpr std::string_view kBatchTypes = "send application/json or application/x-ndjson";

std::string_view media_type(const Request& request) noexcept {
  std::string_view type = request.header("content-type");
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

}  // namespace

std::optional<wire::BatchFormat> batch_format_of(const Request& request, Exchange& exchange,
                                                 std::string_view also) {
  if (is_json(request)) return wire::BatchFormat::json_array;
  const std::string_view type = media_type(request);
  if (ascii_equal(type, "application/x-ndjson") || ascii_equal(type, "application/ndjson")) {
    return wire::BatchFormat::ndjson;
  }
  exchange.fail(415, std::string(kBatchTypes) + std::string(also));
  return std::nullopt;
}

bool is_json(const Request& request) noexcept {
  const std::string_view type = media_type(request);
  return type.empty() || ascii_equal(type, "application/json");
}

bool is_csv(const Request& request) noexcept {
  return ascii_equal(media_type(request), "text/csv");
}

std::optional<wire::JsonDocument> read_json(const Request& request, Exchange& exchange) {
  if (!is_json(request)) {
    exchange.fail(415, kSendJson);
    return std::nullopt;
  }
  Result<wire::JsonDocument> document = wire::parse_json(request.body);
  if (!document) {
    exchange.fail(document.error());
    return std::nullopt;
  }
  return std::move(*document);
}

std::optional<std::string> read_path_key(const Request& request, Exchange& exchange) {
  const std::string& key = request.params.at(0);
  const std::string_view problem = core::throttle_key_problem(key);
  if (problem.empty()) return key;
  exchange.fail(invalid_field("key", problem).error());
  return std::nullopt;
}

}  // namespace penstock::front
