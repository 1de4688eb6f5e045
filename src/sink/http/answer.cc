// The only file that knows Boost.Beast.
#include "sink/http/answer.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/optional/optional.hpp>

#include "wire/retry_after.h"

namespace penstock::sink {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

constexpr int kInterimAnswersMax = 8;  // 100 Continue, 103 Early Hints

}  // namespace

class AnswerReader::Parser final : public http::basic_parser<false> {
 public:
  Parser() {
    header_limit(static_cast<std::uint32_t>(kAnswerHeadBytesMax));
    body_limit(boost::none);  // counted here: past it the status still stands
    eager(true);
  }

  int status = 0;
  bool has_head = false;
  std::string retry_after;

 private:
  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view, int, error_code&) override { status = code; }
  void on_field_impl(http::field name, string_view, string_view value, error_code&) override {
    if (name == http::field::retry_after) retry_after.assign(value.data(), value.size());
  }
  void on_header_impl(error_code&) override { has_head = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code& error) override {
    if (length && *length > kAnswerBodyBytesMax) error = http::error::body_limit;
  }
  std::size_t on_body_impl(string_view body, error_code& error) override {
    return count(body.size(), error);
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& error) override {
    return count(body.size(), error);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t count(std::size_t bytes, error_code& error) {
    body_bytes_ += bytes;
    if (body_bytes_ > kAnswerBodyBytesMax) error = http::error::body_limit;
    return bytes;
  }

  std::size_t body_bytes_ = 0;
};

AnswerReader::AnswerReader() = default;
AnswerReader::~AnswerReader() = default;

void AnswerReader::restart() {
  parser_ = std::make_unique<Parser>();
  has_begun_ = false;
  interim_answers_ = 0;
}

AnswerReader::Progress AnswerReader::read(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size()) {
    has_begun_ = true;
    error_code error;
    used += parser_->put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
    if (error == http::error::need_more) break;
    if (error) return {State::broken, used};
    if (!parser_->is_done()) continue;
    const bool interim = parser_->status / 100 == 1 && parser_->status != 101;
    if (!interim) return {State::complete, used};
    if (++interim_answers_ > kInterimAnswersMax) return {State::broken, used};
    parser_ = std::make_unique<Parser>();
  }
  return {State::need_more, used};
}

bool AnswerReader::has_status() const noexcept { return parser_ && parser_->has_head; }
int AnswerReader::status() const noexcept { return parser_ ? parser_->status : 0; }
std::string_view AnswerReader::retry_after() const noexcept {
  return parser_ ? std::string_view(parser_->retry_after) : std::string_view();
}
bool AnswerReader::keeps_alive() const noexcept {
  return parser_ && parser_->is_done() && parser_->keep_alive();
}

SinkAnswer judge_answer(int status, std::string_view retry_after, Instant now) {
  SinkAnswer answer{.detail = "HTTP " + std::to_string(status)};
  if (status >= 200 && status <= 299) {
    answer.outcome = SinkOutcome::done;
    return answer;
  }
  if (status == 429 || status == 503) {
    answer.pause = wire::parse_retry_after(retry_after, now);
    // A 503 alone is as likely a broken server as a busy one.
    const bool slow_down = status == 429 || answer.pause;
    answer.outcome = slow_down ? SinkOutcome::slow_down : SinkOutcome::failed;
    return answer;
  }
  const bool may_pass = status == 408 || status == 425;
  const bool refused = status >= 400 && status <= 499 && !may_pass;
  answer.outcome = refused ? SinkOutcome::refused : SinkOutcome::failed;
  if (status >= 300 && status <= 399) answer.detail += ", redirects are not followed";
  return answer;
}

}  // namespace penstock::sink
