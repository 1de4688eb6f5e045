#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "wire/resp_reply.h"
#include "wire/resp_request.h"
#include "wire/resp_writer.h"

namespace penstock::wire {
namespace {

using namespace std::string_literals;
using Requests = std::vector<std::vector<std::string>>;
using Parsed = RespRequestParser::Status;

struct Reading {
  Requests requests;
  std::string problem;
  std::size_t unread = 0;
  friend bool operator==(const Reading&, const Reading&) = default;
};

// As a server reads: `pieces` arrive one after another, whole requests are taken off the front. The
// buffer moves with every piece, so that a view of the old one would show under ASAN.
Reading read_requests(const std::vector<std::string_view>& pieces, RespRequestLimits limits = {}) {
  Reading reading;
  RespRequestParser parser;
  std::string held;
  for (const std::string_view piece : pieces) {
    held = std::string(held) + std::string(piece);
    for (;;) {
      const Parsed status = parser.parse(held, limits);
      if (status == Parsed::invalid) {
        reading.problem = parser.problem();
        return reading;
      }
      if (status == Parsed::need_more) break;
      std::vector<std::string> request(parser.arguments().begin(), parser.arguments().end());
      reading.requests.push_back(std::move(request));
      held.erase(0, parser.consumed());
    }
  }
  reading.unread = held.size();
  return reading;
}

Reading read_request_text(std::string_view text) { return read_requests({text}); }

Reading by_single_bytes(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < text.size(); ++i) pieces.push_back(text.substr(i, 1));
  return read_requests(pieces);
}

void expect_requests(std::string_view text, const Requests& expected) {
  const Reading reading = read_request_text(text);
  EXPECT_EQ(reading.problem, "") << text;
  EXPECT_EQ(reading.requests, expected) << text;
  EXPECT_EQ(reading.unread, 0U) << text;
}

TEST(RespRequest, reads_arrays_of_bulk_strings) {
  expect_requests("*1\r\n$4\r\nPING\r\n", {{"PING"}});
  expect_requests("*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", {{"ECHO", ""}});
  expect_requests("*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\0x\r\n"s, {{"ECHO", "\r\n\0x"s}});
  expect_requests("*0\r\n*-1\r\n*1\r\n$1\r\na\r\n", {{}, {}, {"a"}});
}

TEST(RespRequest, reads_inline_commands_with_quotes) {
  expect_requests("PING\r\n", {{"PING"}});
  expect_requests("  set  a\tb \n", {{"set", "a", "b"}});
  expect_requests("\r\n\n", {{}, {}});
  expect_requests(R"(echo "a \"b\" \n\x41\q" 'it\'s "x"')"
                  "\n",
                  {{"echo", "a \"b\" \nAq", "it's \"x\""}});
  expect_requests("a\"b c\"\n", {{"ab c"}});
  expect_requests("\"\" ''\n", {{"", ""}});
  expect_requests("a \0 b\n"s, {{"a"}});
}

TEST(RespRequest, reads_the_same_wherever_the_input_is_cut) {
  const std::string text =
      "*3\r\n$3\r\nSET\r\n$5\r\na\r\nb*\r\n$0\r\n\r\nPING \"x y\"\r\n*0\r\n\r\n"
      "*1\r\n$4\r\nPING\r\n*2\r\n$1\r\na\r\n$12\r\n123456789012\r\n";
  const Reading whole = read_request_text(text);
  ASSERT_EQ(whole.requests.size(), 6U);
  EXPECT_EQ(by_single_bytes(text), whole);
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const std::string_view view = text;
    EXPECT_EQ(read_requests({view.substr(0, cut), view.substr(cut)}), whole) << cut;
  }
}

TEST(RespRequest, names_what_breaks_the_protocol) {
  const auto problem = [](std::string_view text) {
    const std::string whole = read_request_text(text).problem;
    EXPECT_EQ(by_single_bytes(text).problem, whole) << text;
    return whole;
  };
  EXPECT_EQ(problem("*x\r\n"), "invalid multibulk length");
  EXPECT_EQ(problem("*1025\r\n"), "invalid multibulk length");
  EXPECT_EQ(problem("*99999999999999999999\r\n"), "invalid multibulk length");
  EXPECT_EQ(problem("*1\rx"), "invalid multibulk length");
  EXPECT_EQ(problem("*" + std::string(40, '1')), "too big mbulk count string");
  EXPECT_EQ(problem("*1\r\n+OK\r\n"), "expected '$', got '+'");
  EXPECT_EQ(problem("*1\r\n\x01"), "expected '$', got '?'");
  EXPECT_EQ(problem("*1\r\n$-1\r\n"), "invalid bulk length");
  EXPECT_EQ(problem("*1\r\n$65537\r\n"), "invalid bulk length");
  EXPECT_EQ(problem("*1\r\n$9223372036854775807\r\n"), "invalid bulk length");
  EXPECT_EQ(problem("*1\r\n$01\r\na\r\n"), "invalid bulk length");
  EXPECT_EQ(problem("*1\r\n$1\r\nabc"), "invalid bulk length");
  EXPECT_EQ(problem("*1\r\n$" + std::string(40, '1')), "too big bulk count string");
  EXPECT_EQ(problem("echo \"a\n"), "unbalanced quotes in request");
  EXPECT_EQ(problem("echo 'a'b\n"), "unbalanced quotes in request");
  EXPECT_EQ(problem(std::string(70'000, 'a')), "too big inline request");
  EXPECT_EQ(problem(std::string(70'000, 'a') + "\n"), "too big inline request");
  std::string words;
  for (int i = 0; i < 1'025; ++i) words += "a ";
  EXPECT_EQ(problem(words + "\n"), "too many arguments");
}

TEST(RespRequest, bounds_a_request_as_a_whole) {
  std::string text = "*3\r\n";
  for (int i = 0; i < 3; ++i) text += "$60000\r\n" + std::string(60'000, 'x') + "\r\n";
  EXPECT_EQ(read_request_text(text).problem, "too big request");
}

TEST(RespRequest, gives_strangers_less_room) {
  const auto limits = RespRequestLimits::before_auth();
  EXPECT_EQ(read_requests({"*11\r\n"}, limits).problem, "unauthenticated multibulk length");
  EXPECT_EQ(read_requests({"*1\r\n$20000\r\n"}, limits).problem, "unauthenticated bulk length");
  EXPECT_EQ(read_requests({"*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n"}, limits).requests.size(), 1U);
}

TEST(RespRequest, copes_with_garbage) {
  Rng rng(5);
  const std::string_view alphabet = "*$0123456789\r\n\r\n-\"'\\x ab";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t i = rng.below(40); i > 0; --i) text += alphabet[rng.below(alphabet.size())];
    EXPECT_EQ(by_single_bytes(text), read_request_text(text)) << text;
  }
}

TEST(RespRequest, survives_being_written) {
  std::string text;
  append_resp_request(text, {"CL.THROTTLE", "user:1", "", "a\r\nb"});
  expect_requests(text, {{"CL.THROTTLE", "user:1", "", "a\r\nb"}});
}

// The reply as text: one character of type, then the value; aggregates in brackets.
std::string show(std::span<const RespValue>& values) {
  const RespValue value = values.front();
  values = values.subspan(1);
  switch (value.type) {
    case RespType::simple:
      return "+" + std::string(value.text);
    case RespType::error:
      return "-" + std::string(value.text);
    case RespType::integer:
      return ":" + std::to_string(value.integer);
    case RespType::number:
      return "," + std::string(value.text);
    case RespType::boolean:
      return value.integer == 1 ? "#t" : "#f";
    case RespType::null:
      return "_";
    case RespType::bulk:
      return "$" + std::string(value.text);
    default:
      break;
  }
  const std::size_t after = values.size() + 1 - value.next;
  std::string out(1, "[(%>"[static_cast<int>(value.type) - static_cast<int>(RespType::array)]);
  for (std::int64_t i = 0; i < value.integer; ++i) out += (i == 0 ? "" : " ") + show(values);
  EXPECT_EQ(values.size(), after);
  return out + "]";
}

std::string read_replies(std::string_view text, std::size_t step) {
  RespReplyParser parser;
  std::string held;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += step) {
    held = std::string(held) + std::string(text.substr(at, step));
    while (!held.empty()) {
      const auto status = parser.parse(held);
      if (status == RespReplyParser::Status::invalid)
        return out + "!" + std::string(parser.problem());
      if (status == RespReplyParser::Status::need_more) break;
      std::span<const RespValue> values = parser.values();
      out += show(values) + "\n";
      EXPECT_TRUE(values.empty());
      held.erase(0, parser.consumed());
    }
  }
  return held.empty() ? out : out + "...";
}

void expect_replies(std::string_view text, std::string_view expected) {
  for (std::size_t step = 1; step <= text.size(); ++step) {
    ASSERT_EQ(read_replies(text, step), expected) << text << " by " << step;
  }
}

TEST(RespReply, reads_every_type) {
  expect_replies("+OK\r\n", "+OK\n");
  expect_replies("-ERR no\r\n!5\r\nE a\r\n\r\n", "-ERR no\n-E a\r\n\n");
  expect_replies(":-42\r\n", ":-42\n");
  expect_replies("$3\r\na\r\n\r\n$-1\r\n*-1\r\n_\r\n", "$a\r\n\n_\n_\n_\n");
  expect_replies("*0\r\n*2\r\n:1\r\n*1\r\n$1\r\nx\r\n", "[]\n[:1 [$x]]\n");
  expect_replies("%1\r\n+a\r\n~2\r\n#t\r\n#f\r\n", "%+a (#t #f]]\n");
  expect_replies(",1.5e3\r\n,-inf\r\n(123456789012345678901\r\n",
                 ",1.5e3\n,-inf\n+123456789012345678901\n");
  expect_replies("=6\r\ntxt:hi\r\n>1\r\n+x\r\n", "$hi\n>+x]\n");
  expect_replies("|1\r\n+ttl\r\n:5\r\n*2\r\n:1\r\n|1\r\n+a\r\n*1\r\n+b\r\n:2\r\n", "[:1 :2]\n");
  expect_replies("*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n", "[:0 :16 :15 :-1 :2]\n");
}

TEST(RespReply, says_what_is_wrong) {
  expect_replies("?x\r\n", "!a value of an unknown type");
  expect_replies(":1x\r\n", "!an integer is not one");
  expect_replies("$-2\r\n", "!a string has a bad length");
  expect_replies("$99999999999\r\n", "!a string has a bad length");
  expect_replies("*-2\r\n", "!an aggregate has a bad length");
  expect_replies("%99999999999\r\n", "!an aggregate has a bad length");
  expect_replies("#x\r\n", "!a boolean is neither t nor f");
  expect_replies("+a\n", "!a line does not end with CR LF");
  expect_replies("$1\r\nabc", "!a string does not end with CR LF");
  std::string deep;
  for (int i = 0; i < 33; ++i) deep += "*1\r\n";
  expect_replies(deep, "!the reply is nested too deep");
}

TEST(RespReply, copes_with_garbage) {
  Rng rng(6);
  const std::string_view alphabet = "*$%~>|+-:_#,(=!0123tf\r\n\r\n\r\nx";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t i = rng.below(40); i > 0; --i) text += alphabet[rng.below(alphabet.size())];
    EXPECT_EQ(read_replies(text, 1), read_replies(text, text.size() + 1)) << text;
  }
}

TEST(RespReply, reads_what_the_writer_wrote) {
  for (const RespVersion version : {RespVersion::v2, RespVersion::v3}) {
    std::string text;
    RespWriter out(text, version);
    out.simple("O\r\nK").error("ERR a\nb").integer(INT64_MIN).bulk("x\r\n").null();
    out.array(2).integer(1).boolean(true);
    out.map(1).bulk("k").set(1).verbatim("v");
    out.array(0);
    expect_replies(
        text, version == RespVersion::v2
                  ? "+O  K\n-ERR a b\n:-9223372036854775808\n$x\r\n\n_\n[:1 :1]\n[$k [$v]]\n[]\n"
                  : "+O  K\n-ERR a b\n:-9223372036854775808\n$x\r\n\n_\n[:1 #t]\n%$k ($v]]\n[]\n");
  }
}

}  // namespace
}  // namespace penstock::wire
