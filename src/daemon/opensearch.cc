#include "daemon/opensearch.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "engine/http/answer.h"
#include "engine/http/http_client.h"
#include "wire/bulk.h"

namespace penstock::daemon {
namespace {

// Statuses of the whole request: too busy, or broken, and so for the time being.
Error not_taken(const http::HttpAnswer& answer) {
  return {.kind = answer.status == 429 ? ErrorKind::overloaded : ErrorKind::unavailable,
          .what = "OpenSearch says " + http::error_sentence(answer),
          .retry_after = answer.retry_after.value_or(Millis::zero())};
}

Result<service::BulkAnswer> send(http::HttpClient& client, const std::string& index,
                                 std::span<const store::UserMinute> batch) {
  http::HttpCall call{
      .method = "POST", .target = "/_bulk", .body = {}, .content_type = "application/x-ndjson"};
  call.body.reserve(batch.size() * 200);
  for (const store::UserMinute& each : batch) {
    wire::append_bulk_usage(call.body, index,
                            {.user = each.user.raw,
                             .minute = each.minute,
                             .sent = each.counts.sent,
                             .limited = each.counts.limited,
                             .failed = each.counts.failed});
  }
  const Result<http::HttpAnswer> answer = client.call(call);
  if (!answer) return std::unexpected(answer.error());
  // A refusal of the whole (401, 404, 413) is the operator's to mend: until then it is repeated.
  if (answer->status != 200) return std::unexpected(not_taken(*answer));
  Result<wire::BulkOutcome> outcome = wire::decode_bulk_answer(answer->body);
  if (!outcome) {
    return fail(ErrorKind::unavailable, "OpenSearch's answer " + outcome.error().what);
  }
  return service::BulkAnswer{.rejected = std::move(outcome->rejected), .again = outcome->again};
}

}  // namespace

Result<service::BulkTarget> make_opensearch_target(const UsageExportConfig& config) {
  Result<http::Url> url = http::parse_url(config.opensearch_url);
  if (!url) {
    return fail(ErrorKind::invalid,
                "gateway.export.opensearch-url must be an http:// or https:// address");
  }
  http::HttpClientOptions options{.url = std::move(*url), .ca_file = config.ca_file.string()};
  if (!config.username.empty()) options.basic = config.username + ":" + config.password;
  Result<std::unique_ptr<http::HttpClient>> made = http::HttpClient::make(std::move(options));
  if (!made) return std::unexpected(std::move(made.error()));
  return [client = std::shared_ptr<http::HttpClient>(std::move(*made)), index = config.index](
             std::span<const store::UserMinute> batch) { return send(*client, index, batch); };
}

}  // namespace penstock::daemon
