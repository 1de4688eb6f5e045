// The only file of the client that knows Boost.Beast.
#include "engine/http/http_client.h"

#include <fmt/format.h>

// As front/http/server/asio.h does, and for its reasons: both must see one and the same Asio.
#ifndef BOOST_ASIO_DISABLE_FENCED_BLOCK
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <charconv>
#include <utility>

#include "wire/base64.h"

namespace penstock::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

constexpr std::chrono::milliseconds kStopLook{50};           // how soon a stream can be stopped
constexpr std::uint64_t kAnswerBytesMax = 64 * 1024 * 1024;  // a batch of 10,000 answers is 2 MiB

// The target in `</path?after=x>; rel="next"`; of the daemon's own form only.
std::string next_page(std::string_view link) {
  const std::size_t end = link.find(">; rel=\"next\"");
  if (!link.starts_with("</") || end == link.npos) return {};
  return std::string(link.substr(1, end - 1));
}

class BeastClient final : public HttpClient {
 public:
  BeastClient(HttpClientOptions options, asio::ssl::context tls)
      : options_(std::move(options)), tls_(std::move(tls)) {}

  Result<HttpAnswer> call(const HttpCall& call) override {
    if (!open_) {
      if (const error_code error = connect()) return failed("cannot reach", error);
    }
    open_ = false;  // until the answer is complete
    http::request<http::string_body> request = build(call);
    http::response_parser<http::string_body> answer;
    answer.body_limit(kAnswerBytesMax);
    const error_code error =
        options_.url.tls ? exchange(*secure_, request, answer) : exchange(*plain_, request, answer);
    if (error) return failed("no answer from", error);
    open_ = answer.get().keep_alive();
    return take(answer.release());
  }

  Result<HttpAnswer> stream(const HttpCall& call,
                            const std::function<void(std::string_view)>& on_bytes,
                            const std::function<bool()>& stopped) override {
    if (!open_) {
      if (const error_code error = connect()) return failed("cannot reach", error);
    }
    open_ = false;  // for good: what comes later has no end
    Request request = build(call);
    Parser answer;
    answer.body_limit(boost::none);
    const error_code error = options_.url.tls ? follow(*secure_, request, answer, on_bytes, stopped)
                                              : follow(*plain_, request, answer, on_bytes, stopped);
    if (answer.is_header_done() && (answer.get().result_int() != 200 || stopped())) {
      return take(answer.release());
    }
    if (!error) return fail(ErrorKind::unavailable, "the daemon ended the stream");
    return failed("no answer from", error);
  }

 private:
  using Parser = http::response_parser<http::string_body>;
  using Request = http::request<http::string_body>;

  // Runs one asynchronous step to its end: the blocking calls of Beast know no time-out.
  template <class Start>
  error_code step(Start start) {
    error_code result = asio::error::operation_aborted;
    start([&result](error_code error, auto&&...) { result = error; });
    io_.restart();
    io_.run();
    return result;
  }

  // As step(), ended early when `stopped` says so.
  template <class Stream, class Start>
  error_code step_unless(Stream& stream, const std::function<bool()>& stopped, Start start) {
    error_code result = asio::error::operation_aborted;
    bool done = false;
    start([&](error_code error, auto&&...) {
      result = error;
      done = true;
    });
    while (!done) {  // NOLINT(bugprone-infinite-loop): run_for() calls what sets it
      io_.restart();
      io_.run_for(kStopLook);
      if (!done && stopped()) beast::get_lowest_layer(stream).cancel();
    }
    return result;
  }

  // Sends, then reads until the end of the answer, handing on what a 200 brings.
  template <class Stream>
  error_code follow(Stream& stream, Request& request, Parser& answer,
                    const std::function<void(std::string_view)>& on_bytes,
                    const std::function<bool()>& stopped) {
    auto& lowest = beast::get_lowest_layer(stream);
    lowest.expires_after(options_.answer_timeout);
    error_code error =
        step_unless(stream, stopped, [&](auto done) { http::async_write(stream, request, done); });
    if (error) return error;
    error = step_unless(stream, stopped,
                        [&](auto done) { http::async_read_header(stream, buffer_, answer, done); });
    while (!error && !answer.is_done() && !stopped()) {
      lowest.expires_after(options_.answer_timeout);
      error = step_unless(stream, stopped,
                          [&](auto done) { http::async_read_some(stream, buffer_, answer, done); });
      std::string& body = answer.get().body();
      if (answer.get().result_int() == 200 && !body.empty()) {
        on_bytes(body);
        body.clear();
      } else if (body.size() > kAnswerBytesMax) {
        return http::error::body_limit;
      }
    }
    return error;
  }

  error_code connect() {
    plain_.reset();
    secure_.reset();
    buffer_.clear();
    error_code error;
    tcp::resolver resolver(io_);
    const auto addresses = resolver.resolve(options_.url.host, std::to_string(options_.url.port),
                                            tcp::resolver::numeric_service, error);
    if (error) return error;
    plain_.emplace(io_);
    plain_->expires_after(options_.connect_timeout);
    error = step([&](auto done) { plain_->async_connect(addresses, done); });
    if (error) return error;
    plain_->socket().set_option(tcp::no_delay(true), error);
    return options_.url.tls ? secure() : error_code();
  }

  error_code secure() {
    secure_.emplace(std::move(*plain_), tls_);
    plain_.reset();
    const std::string& host = options_.url.host;
    secure_->set_verify_callback(asio::ssl::host_name_verification(host));
    if (SSL_set_tlsext_host_name(secure_->native_handle(), host.c_str()) != 1) {
      return asio::error::invalid_argument;
    }
    beast::get_lowest_layer(*secure_).expires_after(options_.connect_timeout);
    return step([&](auto done) { secure_->async_handshake(asio::ssl::stream_base::client, done); });
  }

  Request build(const HttpCall& call) const {
    Request request;
    request.version(11);
    request.method_string(call.method);
    request.target(options_.url.base_path + call.target);
    request.set(http::field::host, options_.url.authority());
    request.set(http::field::accept, "application/json");
    request.set(http::field::user_agent, "penstock-cli");
    if (!options_.token.empty()) {
      request.set(http::field::authorization, "Bearer " + options_.token);
    }
    if (!options_.basic.empty()) {
      std::string value = "Basic ";
      wire::append_base64(value, options_.basic);
      request.set(http::field::authorization, value);
    }
    if (!call.body.empty()) {
      request.set(http::field::content_type, call.content_type);
      request.body() = call.body;
    }
    request.prepare_payload();
    return request;
  }

  template <class Stream>
  error_code exchange(Stream& stream, Request& request, Parser& answer) {
    beast::get_lowest_layer(stream).expires_after(options_.answer_timeout);
    const error_code sent = step([&](auto done) { http::async_write(stream, request, done); });
    // The daemon may answer (413, 431) and close before it has read everything.
    const error_code read =
        step([&](auto done) { http::async_read(stream, buffer_, answer, done); });
    return read && sent ? sent : read;
  }

  static HttpAnswer take(http::response<http::string_body> response) {
    HttpAnswer answer{.status = static_cast<int>(response.result_int()),
                      .body = std::move(response.body()),
                      .retry_after = std::nullopt,
                      .next_page = next_page({response[http::field::link].data(),
                                              response[http::field::link].size()})};
    const auto header = response[http::field::retry_after];
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(header.begin(), header.end(), seconds);
    if (error == std::errc() && end == header.end() && seconds >= 0) {
      answer.retry_after = Seconds{std::min<std::int64_t>(seconds, 86'400)};
    }
    return answer;
  }

  std::unexpected<Error> failed(std::string_view what, const error_code& error) const {
    const bool timeout = error == beast::error::timeout;
    return fail(timeout ? ErrorKind::timeout : ErrorKind::unavailable,
                fmt::format("{} {}://{}: {}", what, options_.url.tls ? "https" : "http",
                            options_.url.authority(), timeout ? "timed out" : error.message()));
  }

  const HttpClientOptions options_;
  asio::ssl::context tls_;
  asio::io_context io_{1};
  std::optional<beast::tcp_stream> plain_;
  std::optional<beast::ssl_stream<beast::tcp_stream>> secure_;
  beast::flat_buffer buffer_;
  bool open_ = false;  // connected, and the last answer was read to its end
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::make(HttpClientOptions options) {
  asio::ssl::context tls(asio::ssl::context::tls_client);
  error_code error;
  if (options.url.tls) {
    if (options.ca_file.empty()) {
      tls.set_default_verify_paths(error);
    } else {
      tls.load_verify_file(options.ca_file, error);
    }
    if (error) {
      return fail(ErrorKind::invalid, fmt::format("cannot use the certificates of {}: {}",
                                                  options.ca_file, error.message()));
    }
    tls.set_verify_mode(asio::ssl::verify_peer);
  }
  return std::make_unique<BeastClient>(std::move(options), std::move(tls));
}

}  // namespace penstock::http
