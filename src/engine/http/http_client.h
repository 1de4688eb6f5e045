// A small blocking HTTP/1.1 client: one connection, kept open between calls. Not for several
// threads at once: each thread has its own. Repeats nothing by itself: whether a call may be sent
// again is the caller's to know.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "engine/http/url.h"

namespace penstock::http {

struct HttpClientOptions {
  Url url;
  std::string token;    // sent as a bearer token; empty = none
  std::string basic;    // `name:password`, instead of a token; empty = none
  std::string ca_file;  // PEM; certificates to trust instead of the machine's own; empty = those
  Millis connect_timeout = Seconds{5};
  Millis answer_timeout = Seconds{30};  // from the request to the end of the answer
};

struct HttpCall {
  std::string method = "GET";
  std::string target;  // path and query
  std::string body = {};
  std::string content_type = "application/json";  // of the body
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::optional<Millis> retry_after;  // the header, when it is a whole number of seconds
  std::string next_page = {};         // target of a Link header with rel="next"; empty = none
};

class HttpClient {
 public:
  // A CA file that cannot be used is `invalid`. Connects at the first call.
  static Result<std::unique_ptr<HttpClient>> make(HttpClientOptions options);
  virtual ~HttpClient() = default;

  // Any status is an answer. `unavailable`: not connected, nothing was sent or the connection
  // broke; `timeout`: the outcome is unknown.
  virtual Result<HttpAnswer> call(const HttpCall& call) = 0;

  // For an answer that does not end by itself: gives the bytes of a 200 as they come, on a
  // connection that is closed afterwards. Returns when `stopped` says so, which is asked several
  // times a second (status 200, no body); when the answer is another one (it, whole); or when it
  // ends or nothing came for the answer's time-out (`unavailable`, `timeout`).
  virtual Result<HttpAnswer> stream(const HttpCall& call,
                                    const std::function<void(std::string_view)>& on_bytes,
                                    const std::function<bool()>& stopped) = 0;
};

}  // namespace penstock::http
