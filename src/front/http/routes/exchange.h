// What the handlers of routes share: one request's way back, what they read of it, and the forms
// that answers have.
//
// A handler is `Result<void> (context, request, exchange)`. The error that it returns is the
// answer; so it returns one only as long as the exchange is its own, and nothing once it has given
// the exchange to a service.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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
  void fail(const Error& error) {
    if (refused()) return fail(status_, error.what);
    reply_(wire::error_response(error, request_id_, clock_->now()));
  }
  void fail(int status, std::string_view message) {
    reply_(wire::error_response(status, message, request_id_, clock_->now()));
  }

  // An error for the handler to return, answered with this status instead of its kind's: 415.
  std::unexpected<Error> refusal(int status, std::string what) {
    status_ = status;
    return penstock::fail(ErrorKind::invalid, std::move(what));
  }
  bool refused() const noexcept { return status_ != 0; }

 private:
  Reply reply_;
  std::string request_id_;
  const Clock* clock_;
  int status_ = 0;  // of the error that the handler returns; 0 = its kind's
};

// Adds routes whose handlers are called with one context: a reference to a service, or a struct of
// what they need, which is copied. What it refers to must outlive the routes. `Talk` is the
// Exchange, or one made of it and the context that words errors in a way of its own.
template <class Context, class Talk = Exchange>
class Binder {
 public:
  using Handle = Result<void> (*)(const Context& context, const Request& request, Talk& talk);

  Binder(std::vector<Route>& routes, Context context, const Clock& clock)
      : routes_(routes), held_{context}, clock_(clock) {}

  void operator()(const wire::RouteInfo& row, Handle handle) const {
    routes_.emplace_back(
        row, [held = held_, handle, &clock = clock_](const Request& request, Reply&& reply) {
          Talk talk = held.talk(Exchange(request, std::move(reply), clock));
          if (const Result<void> done = handle(held.context, request, talk); !done) {
            talk.fail(done.error());
          }
        });
  }

 private:
  struct Held {
    Context context;  // may be a reference

    Talk talk(Exchange&& exchange) const {
      if constexpr (std::is_same_v<Talk, Exchange>) {
        return std::move(exchange);
      } else {
        return Talk(context, std::move(exchange));
      }
    }
  };

  std::vector<Route>& routes_;
  const Held held_;
  const Clock& clock_;
};

// --- What is read of a request ---

// A query parameter as `parse` makes a Result of its text; nothing when it is absent or empty.
template <class Parse>
auto query_value(const Request& request, std::string_view name, Parse parse)
    -> Result<std::optional<typename std::invoke_result_t<Parse, std::string_view>::value_type>> {
  const std::optional<std::string> text = PENSTOCK_TRY(request.query_param(name));
  if (!text || text->empty()) return std::nullopt;
  auto value = parse(std::string_view(*text));
  if (value) return std::move(*value);
  if (!value.error().field.empty()) return std::unexpected(value.error());
  return invalid_field(name, value.error().what);
}

// The id that is the route's {name} number `place`.
template <class IdType>
Result<IdType> path_id(const Request& request, std::size_t place, std::string_view name) {
  return IdType::parse(name, request.params.at(place));
}
// The throttle key that is the route's first {name}.
Result<std::string> path_key(const Request& request);

// The media type of the body. Parameters such as charset are ignored; none counts as JSON, since
// the server refuses a body without Content-Type, and no body is broken JSON.
bool is_json(const Request& request) noexcept;
bool is_csv(const Request& request) noexcept;

// The document views the request's body, so decode before the handler returns.
Result<wire::JsonDocument> read_json(const Request& request, Exchange& exchange);
// What `decode` makes of the body; it must not view it.
template <class Decode>
auto read_body(const Request& request, Exchange& exchange, Decode decode)
    -> std::invoke_result_t<Decode, wire::JsonValue> {
  const wire::JsonDocument document = PENSTOCK_TRY(read_json(request, exchange));
  return decode(document.root());
}
// `also` ends the sentence of the 415 for a route that takes more.
Result<wire::BatchFormat> batch_format_of(const Request& request, Exchange& exchange,
                                          std::string_view also = {});

// --- Answers ---

// JSON by an `encode` that gives it, or that writes it to a JsonWriter.
template <class Encode, class Value>
std::string json_of(const Encode& encode, const Value& value) {
  if constexpr (std::is_invocable_v<const Encode&, wire::JsonWriter&, const Value&>) {
    wire::JsonWriter out;
    encode(out, value);
    return std::move(out).take();
  } else {
    return encode(value);
  }
}

inline constexpr std::size_t kEntryBytes = 192;  // about what a resource takes as JSON

template <class List, class Encode>
std::string json_array(const List& list, const Encode& encode) {
  wire::JsonWriter out(list.size() * kEntryBytes + 16);
  out.begin_array();
  for (const auto& each : list) encode(out, each);
  out.end_array();
  return std::move(out).take();
}

// Each of these gives what a service is to call back with its Result.

// 200 and the value, or the error.
template <class Talk, class Encode>
auto sends(Talk talk, Encode encode) {
  return [talk = std::move(talk), encode](const auto& answer) mutable {
    if (!answer) return talk.fail(answer.error());
    talk.send(200, json_of(encode, *answer));
  };
}
// 204, or the error.
template <class Talk>
auto sends_nothing(Talk talk) {
  return [talk = std::move(talk)](const auto& answer) mutable {
    if (!answer) return talk.fail(answer.error());
    talk.send_empty();
  };
}
// An array.
template <class Talk, class Encode>
auto sends_list(Talk talk, Encode encode) {
  return sends(std::move(talk), [encode](const auto& list) { return json_array(list, encode); });
}

// --- Pages: `?limit=&after=` in, a Link header out ---

inline constexpr std::size_t kPageDefault = 100;
inline constexpr std::size_t kPageMax = 1'000;  // under a megabyte of JSON

struct Page {
  std::size_t limit = kPageDefault;
  std::string after;  // empty = from the start
};

Result<Page> page_of(const Request& request);

// `Link: </path?limit=…&after=…>; rel="next"`: where the page behind the entry `last` is.
Header next_page_link(std::string_view path, std::size_t limit, std::string_view last);

// Cuts a list to `limit`. A list that has more than that, as it was asked for one more, has a next
// page: behind the entry that `mark` names by its text.
template <class List, class Mark>
void cut_page(Response& response, List& list, std::string_view path, std::size_t limit, Mark mark) {
  if (list.size() <= limit) return;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(limit), list.end());
  response.headers.push_back(next_page_link(path, limit, mark(list.back())));
}

template <class Encode, class Mark>
auto sends_page(Exchange&& exchange, std::string path, std::size_t limit, Encode encode,
                Mark mark) {
  return [exchange = std::move(exchange), path = std::move(path), limit, encode,
          mark](auto found) mutable {
    if (!found) return exchange.fail(found.error());
    Response response;
    cut_page(response, *found, path, limit, mark);
    response.body = json_array(*found, encode);
    exchange.send(std::move(response));
  };
}

// --- Batches: the entries of a body, each a call or what is wrong with it ---

// What one entry asked, or why it asks nothing.
struct BatchEntry {
  std::string id;  // as far as it could be read
  std::optional<Error> error;
};

template <class Call>
struct BatchCalls {
  std::vector<BatchEntry> entries;  // all, in order
  std::vector<Call> calls;          // of the entries without error, in order

  void add(std::string id, Result<Call>&& call) {
    BatchEntry& entry =
        entries.emplace_back(BatchEntry{.id = std::move(id), .error = std::nullopt});
    if (call) {
      calls.push_back(std::move(*call));
    } else {
      entry.error = std::move(call.error());
    }
  }
};

// The member of an entry that names it, as far as there is one.
std::string entry_id(wire::JsonValue value, std::string_view id_field);

// `decode` makes a Result<Call> of a JSON value; `id_field` is the member that names an entry.
template <class Call, class Decode>
Result<BatchCalls<Call>> decode_entries(std::string_view body, wire::BatchFormat format,
                                        std::string_view id_field, Decode decode) {
  BatchCalls<Call> batch;
  PENSTOCK_TRY(wire::for_each_entry(body, format, [&](const Result<wire::JsonValue>& value) {
    if (!value) return batch.add({}, std::unexpected(value.error()));
    batch.add(entry_id(*value, id_field), decode(*value));
  }));
  return batch;
}

// {<id_field>, status, error, message, field?}
void encode_failure(wire::JsonWriter& out, std::string_view id_field, std::string_view id,
                    const Error& error);
// The same, left open for more.
wire::JsonWriter& begin_failure(wire::JsonWriter& out, std::string_view id_field,
                                std::string_view id, int status, std::string_view message);

// {results: [ … ]}: `encode` writes the answer of an entry that was asked for.
template <class Answers, class Encode>
std::string encode_results(const std::vector<BatchEntry>& entries, const Answers& answers,
                           std::string_view id_field, Encode encode) {
  wire::JsonWriter out(entries.size() * kEntryBytes + 16);
  out.begin_object().key("results").begin_array();
  auto answer = answers.begin();
  for (const BatchEntry& entry : entries) {
    if (entry.error) {
      encode_failure(out, id_field, entry.id, *entry.error);
    } else if (const auto& given = *answer++; given) {
      encode(out, entry.id, *given);
    } else {
      encode_failure(out, id_field, entry.id, given.error());
    }
  }
  out.end_array().end_object();
  return std::move(out).take();
}

// A member that is null when there is nothing to say.
inline void text_or_null(wire::JsonWriter& out, std::string_view name, const std::string& text) {
  out.key(name);
  text.empty() ? out.null() : out.value(text);
}

}  // namespace penstock::front
