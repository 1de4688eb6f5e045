#include "wire/http/request_head.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <boost/beast/http/basic_parser.hpp>

#include "base/ascii.h"

namespace penstock::wire {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;

std::string_view view(boost::beast::string_view text) noexcept {
  return {text.data(), text.size()};
}

Method method_of(http::verb verb) noexcept {
  switch (verb) {
    case http::verb::get:
      return Method::get;
    case http::verb::head:
      return Method::head;
    case http::verb::post:
      return Method::post;
    case http::verb::put:
      return Method::put;
    case http::verb::patch:
      return Method::patch;
    case http::verb::delete_:
      return Method::del;
    case http::verb::options:
      return Method::options;
    default:
      return Method::other;
  }
}

constexpr Refusal kNoMethod{400, "the request line does not start with a method"};

bool is_token_char(char c) noexcept {
  return c > ' ' && c < 0x7f && std::strchr("\"(),/:;<=>?@[\\]{}", c) == nullptr;
}

Refusal refusal_of(const error_code& error) noexcept {
  switch (static_cast<http::error>(error.value())) {
    case http::error::bad_method:
      return kNoMethod;
    case http::error::bad_target:
      return {400, "the request target is malformed"};
    case http::error::bad_version:
      return {400, "the request line does not end with HTTP/1.0 or HTTP/1.1"};
    case http::error::bad_content_length:
    case http::error::multiple_content_length:
    case http::error::bad_transfer_encoding:
      return {400, "Content-Length and Transfer-Encoding are malformed or contradict each other"};
    default:
      return {400, "a header field is malformed"};
  }
}

// Collects what the parser finds. The head is given to it whole, so the body callbacks never run.
class HeadParser final : public http::basic_parser<true> {
 public:
  HeadParser(Request& request, Framing& framing) : request_(request), framing_(framing) {
    skip(true);                       // complete after the head: bodies are ours
    header_limit(~std::uint32_t{0});  // HeadScanner has limited it
  }

  std::optional<Refusal> check() const {
    if (problem_) return problem_;
    if (framing_.http11 && hosts_ == 0) return Refusal{400, "the Host header is missing"};
    if (hosts_ > 1) return Refusal{400, "there is more than one Host header"};
    if (codings_ > 0 && lengths_ > 0) {
      return Refusal{400, "Content-Length and Transfer-Encoding cannot stand together"};
    }
    if (codings_ > 0 && !framing_.http11) {
      return Refusal{400, "HTTP/1.0 has no Transfer-Encoding"};
    }
    return std::nullopt;
  }

 private:
  void on_request_impl(http::verb verb, boost::beast::string_view, boost::beast::string_view target,
                       int version, error_code&) override {
    request_.method = method_of(verb);
    request_.target = view(target);
    framing_.http11 = version == 11;
  }

  void on_field_impl(http::field field, boost::beast::string_view name,
                     boost::beast::string_view text, error_code&) override {
    const std::string_view value = view(text);
    request_.headers.emplace_back(view(name), value);
    switch (field) {
      case http::field::host:
        ++hosts_;
        check_host(value);
        break;
      case http::field::content_length:
        if (++lengths_ > 1) refuse("there is more than one Content-Length");
        read_length(value);
        break;
      case http::field::transfer_encoding:
        // Any other coding, or chunked twice, would leave the end of the body to guesswork.
        if (++codings_ > 1 || !ascii_equal(value, "chunked")) {
          refuse("the only Transfer-Encoding is chunked, once");
        }
        framing_.chunked = true;
        break;
      case http::field::expect:
        if (!ascii_equal(value, "100-continue")) {
          problem_ = Refusal{417, "the only expectation is 100-continue"};
        }
        framing_.expects_continue = true;
        break;
      default:
        break;
    }
  }

  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(boost::beast::string_view, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, boost::beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, boost::beast::string_view, error_code&) override {
    return 0;
  }
  void on_finish_impl(error_code&) override {}
  void on_response_impl(int, boost::beast::string_view, int, error_code&) override {}

  void refuse(std::string_view message) {
    if (!problem_) problem_ = Refusal{400, message};
  }

  // Digits only: "5, 5", "+5" and "0x5" are other servers' ways to disagree about a length.
  void read_length(std::string_view value) {
    const char* const end = value.data() + value.size();
    const auto [read, error] = std::from_chars(value.data(), end, framing_.content_length);
    if (error != std::errc{} || read != end) refuse("Content-Length is not a number");
  }

  void check_host(std::string_view value) {
    const bool plain = std::ranges::all_of(value, [](char c) {
      return c > ' ' && c < 0x7f && std::strchr("\"/<>?@\\^`{|}#,", c) == nullptr;
    });
    if (!plain) refuse("the Host header is malformed");
  }

  Request& request_;
  Framing& framing_;
  std::optional<Refusal> problem_;
  unsigned hosts_ = 0;
  unsigned lengths_ = 0;
  unsigned codings_ = 0;
};

// Cuts the target into path and query. Absolute form loses its scheme and authority.
std::optional<Refusal> split_target(Request& request) {
  std::string_view target = request.target;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!ascii_equal(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::size_t authority = target.find_first_of("/?#");
    if (authority == 0 || target.empty()) return Refusal{400, "the request target has no host"};
    target.remove_prefix(std::min(authority, target.size()));
    if (target.empty() || target.front() == '?') {
      request.path = "/";
      request.query = target.empty() ? target : target.substr(1);
      return std::nullopt;
    }
    break;
  }
  if (target.front() != '/') return Refusal{400, "the request target is not a path"};
  if (target.find('#') != target.npos) return Refusal{400, "the request target has a fragment"};
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  request.query = question == target.npos ? std::string_view{} : target.substr(question + 1);
  return std::nullopt;
}

// What is wrong with a request line (its line end included), when anything is.
std::optional<Refusal> check_request_line(std::string_view line) {
  Request request;
  Framing framing;
  HeadParser parser(request, framing);
  error_code error;
  parser.put(boost::asio::const_buffer(line.data(), line.size()), error);
  if (!error || error == http::error::need_more) return std::nullopt;
  return refusal_of(error);
}

}  // namespace

HeadScanner::Status HeadScanner::refuse(std::string_view bytes, Refusal refusal) {
  refusal_ = refusal;
  // A line that is no HTTP at all says more than what came after it.
  if (line_size_ > 0) {
    if (const auto problem = check_request_line(bytes.substr(0, line_size_))) refusal_ = *problem;
  }
  return Status::refused;
}

// Garbage need not be waited out: the request line is judged as soon as it is there.
HeadScanner::Status HeadScanner::wait(std::string_view bytes) {
  looked_at_ = bytes.size();
  if (line_size_ == 0 || line_checked_) return Status::need_more;
  line_checked_ = true;
  const auto problem = check_request_line(bytes.substr(0, line_size_));
  if (!problem) return Status::need_more;
  refusal_ = *problem;
  return Status::refused;
}

HeadScanner::Status HeadScanner::scan(std::string_view bytes, const HeadLimits& limits) {
  if (bytes.empty()) return Status::need_more;
  if (!is_token_char(bytes.front())) return refuse(bytes, kNoMethod);
  for (;;) {
    const bool first = line_size_ == 0;
    const std::size_t limit =
        first ? std::min(limits.line_bytes, limits.head_bytes) : limits.head_bytes;
    const std::size_t end = bytes.substr(0, limit).find('\n', std::max(scanned_, looked_at_));
    if (end == bytes.npos) {
      if (bytes.size() < limit) return wait(bytes);
      return refuse(bytes, first ? Refusal{414, "the request line is too long"}
                                 : Refusal{431, "the header fields are too large"});
    }
    if (bytes[end - 1] != '\r') return refuse(bytes, {400, "a line ends without CR"});
    if (!first && (bytes[scanned_] == ' ' || bytes[scanned_] == '\t')) {
      return refuse(bytes, {400, "a header field is folded over two lines"});
    }
    const bool blank = end == scanned_ + 1;
    scanned_ = end + 1;
    if (first) {
      line_size_ = scanned_;
    } else if (blank) {
      return Status::complete;
    }
  }
}

std::optional<Refusal> parse_head(std::string_view head, Request& request, Framing& framing) {
  request.headers.clear();
  framing = {};
  HeadParser parser(request, framing);
  error_code error;
  parser.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error) return refusal_of(error);
  if (const auto problem = parser.check()) return problem;
  framing.keep_alive = parser.keep_alive();
  framing.expects_continue = framing.expects_continue && framing.http11;
  return split_target(request);
}

}  // namespace penstock::wire
