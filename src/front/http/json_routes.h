// What the JSON routes share: one request's way back, and reading a body by its media type.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "front/http/http.h"
#include "wire/batch.h"
#include "wire/http/errors.h"
#include "wire/json.h"

namespace penstock::front {

// The way back of one request: keeps what an answer needs after the request view is gone. Moved
// along with the work; answers once.
class Exchange {
 public:
  // `clock` must outlive the exchange.
  Exchange(const Request& request, Reply&& reply, const Clock& clock)
      : reply_(std::move(reply)), request_id_(request.request_id), clock_(&clock) {}

  const std::string& request_id() const noexcept { return request_id_; }
  Instant now() const noexcept { return clock_->now(); }

  void send(int status, std::string json) {
    reply_(Response{.status = status, .body = std::move(json)});
  }
  void send(Response&& response) { reply_(std::move(response)); }
  void send_empty() { reply_(Response{.status = 204}); }
  void fail(const Error& error) { reply_(wire::error_response(error, request_id_, clock_->now())); }
  void fail(int status, std::string_view message) {
    reply_(wire::error_response(status, message, request_id_, clock_->now()));
  }

 private:
  Reply reply_;
  std::string request_id_;
  const Clock* clock_;
};

// The server refuses a body without Content-Type; no body is broken JSON here. Parameters such as
// charset are ignored. Both answer
// the exchange themselves (415, or 400 for broken JSON) and give nothing when they cannot go on.
// The document views the request's body, so decode before the handler returns.
std::optional<wire::JsonDocument> read_json(const Request& request, Exchange& exchange);
// `also` ends the sentence of the 415 for a route that takes more.
std::optional<wire::BatchFormat> batch_format_of(const Request& request, Exchange& exchange,
                                                 std::string_view also = {});

bool is_json(const Request& request) noexcept;
bool is_csv(const Request& request) noexcept;  // says so, that is

// The id that is the route's {name} number `place`; answers the exchange itself (400) otherwise.
template <class IdType>
std::optional<IdType> read_path_id(const Request& request, Exchange& exchange, std::size_t place,
                                   std::string_view name) {
  Result<IdType> id = IdType::parse(name, request.params.at(place));
  if (id) return std::move(*id);
  exchange.fail(id.error());
  return std::nullopt;
}

// The throttle key that is the route's first {name}; answers the exchange itself (400) otherwise.
std::optional<std::string> read_path_key(const Request& request, Exchange& exchange);

// A member that is null when there is nothing to say.
inline void text_or_null(wire::JsonWriter& out, std::string_view name, const std::string& text) {
  out.key(name);
  text.empty() ? out.null() : out.value(text);
}

}  // namespace penstock::front
