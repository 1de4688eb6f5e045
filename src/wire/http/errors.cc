#include "wire/http/errors.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "wire/json.h"

namespace penstock::wire {
namespace {

struct Reason {
  int status;
  std::string_view phrase;
};
constexpr Reason kReasons[] = {
    // RFC 9110's words, ascending
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};
static_assert(std::ranges::is_sorted(kReasons, {}, &Reason::status));

// What a client should wait when the error does not say: a full queue or a missed deadline is gone
// in a moment, a store that is away takes a few seconds to come back.
Seconds usual_delay(ErrorKind kind) noexcept {
  const bool away = kind == ErrorKind::unavailable || kind == ErrorKind::corrupt;
  return away ? Seconds{5} : Seconds{1};
}

Response make(int status, std::string_view message, std::string_view field,
              std::string_view request_id, Seconds retry_after, Instant now) {
  wire::JsonWriter out(192 + message.size());
  out.begin_object()
      .member("status", status)
      .member("error", reason_of(status))
      .member("message", message)
      .member("timestamp", now)
      .member("requestId", request_id);
  if (!field.empty()) out.member("field", field);
  out.end_object();
  Response response{.status = status, .body = std::move(out).take()};
  if (status == 429 || status == 503) {
    response.headers.emplace_back("Retry-After", std::to_string(retry_after.count()));
  }
  return response;
}

}  // namespace

int status_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::invalid:
      return 400;
    case ErrorKind::too_large:
      return 413;
    case ErrorKind::not_found:
      return 404;
    case ErrorKind::conflict:
      return 409;
    case ErrorKind::forbidden:
      return 403;
    case ErrorKind::limited:
      return 429;
    case ErrorKind::exhausted:
    case ErrorKind::overloaded:
    case ErrorKind::unavailable:
    case ErrorKind::timeout:
    case ErrorKind::corrupt:  // somebody has to restore what is damaged; the rest is served
      return 503;
  }
  return 500;
}

std::string_view reason_of(int status) noexcept {
  const auto found = std::ranges::lower_bound(kReasons, status, {}, &Reason::status);
  if (found == std::end(kReasons) || found->status != status) return "Unknown";
  return found->phrase;
}

Response error_response(const Error& error, std::string_view request_id, Instant now) {
  const Seconds asked = std::chrono::ceil<Seconds>(error.retry_after);
  const Seconds wait = asked > Seconds::zero() ? asked : usual_delay(error.kind);
  return make(status_of(error.kind), error.what, error.field, request_id, wait, now);
}

Response error_response(int status, std::string_view message, std::string_view request_id,
                        Instant now) {
  return make(status, message, {}, request_id, Seconds{1}, now);
}

}  // namespace penstock::wire
