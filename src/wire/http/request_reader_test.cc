#include "wire/http/request_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"

namespace penstock::wire {
namespace {

using Step = RequestReader::Step;
using Place = RequestReader::Place;

constexpr std::size_t kBodyMax = 100;

// What a reader makes of `bytes`, fed in pieces; a line per request or refusal. Requests to /skip
// are discarded. The pieces are fed from one buffer that is overwritten, as a session does.
template <class Cut>
std::string transcript(std::string_view bytes, Cut cut) {
  static const HeadLimits limits{.line_bytes = 64, .head_bytes = 256};
  RequestReader reader(limits);
  Request request;
  Framing framing;
  std::string out;
  std::string buffer;
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(cut(), bytes.size());
    buffer.assign(bytes.substr(0, size));
    bytes.remove_prefix(size);
    reader.feed(buffer);
    for (bool more = true; more;) {
      switch (reader.next(request, framing)) {
        case Step::need_more:
          more = false;
          break;
        case Step::head:
          if (request.path == "/skip" && !framing.chunked) {
            out += "skip\n";
            reader.discard();
          } else if (const auto problem = reader.accept(kBodyMax)) {
            return out + "refused " + std::to_string(problem->status) + "\n";
          }
          break;
        case Step::request:
          out += std::string(to_string(request.method)) + ' ' + std::string(request.target) + ' ' +
                 std::string(request.header("x")) + " [" + std::string(request.body) + "]" +
                 (framing.keep_alive ? "" : " close") + "\n";
          reader.finish();
          break;
        case Step::refused:
          return out + "refused " + std::to_string(reader.refusal().status) + " " +
                 std::string(reader.refusal().message) + "\n";
      }
    }
    reader.park();
    std::ranges::fill(buffer, '!');
  }
  return out;
}

std::string whole(std::string_view bytes) {
  return transcript(bytes, [&] { return bytes.size(); });
}
std::string bytewise(std::string_view bytes) {
  return transcript(bytes, [] { return 1; });
}

TEST(RequestReader, cuts_pipelined_requests) {
  const std::string_view bytes =
      "GET /a HTTP/1.1\r\nHost: h\r\nX: 1\r\n\r\n"
      "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nhe\r\n3;x\r\nllo\r\n0\r\nT: 1\r\n\r\n"
      "\r\nGET /d HTTP/1.0\r\n\r\n";
  const std::string expected =
      "GET /a 1 []\nPOST /b  [hello]\nPOST /c  [hello]\nGET /d  [] close\n";
  EXPECT_EQ(whole(bytes), expected);
  EXPECT_EQ(bytewise(bytes), expected);
}

TEST(RequestReader, discards_bodies_nobody_wants) {
  const std::string_view bytes =
      "POST /skip HTTP/1.1\r\nHost: h\r\nContent-Length: 30\r\n\r\nGET /evil HTTP/1.1\r\n1234567890"
      "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
      "GET /skip HTTP/1.1\r\nHost: h\r\n\r\n"
      "GET /b HTTP/1.1\r\nHost: h\r\n\r\n";
  EXPECT_EQ(whole(bytes), "skip\nGET /a  []\nskip\nGET /b  []\n");
  EXPECT_EQ(bytewise(bytes), whole(bytes));
}

TEST(RequestReader, refuses_bodies_over_the_limit) {
  EXPECT_EQ(whole("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n"), "");
  EXPECT_EQ(whole("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n"), "refused 413\n");
  const std::string chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(whole(chunked + "64\r\n"), "");
  EXPECT_EQ(whole(chunked + "65\r\n"), "refused 413 the body is too large\n");
}

TEST(RequestReader, allows_two_blank_lines_before_a_request) {
  const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  EXPECT_EQ(whole("\r\n\r\n" + get), "GET /  []\n");
  EXPECT_EQ(bytewise("\r\n\r\n" + get + "\r\n" + get), "GET /  []\nGET /  []\n");
  for (const std::string before : {"\n", "\r", "\r\r\n", "\r\n\r\n\r\n", "\r\n\n"}) {
    EXPECT_EQ(whole(before + get).substr(0, 11), "refused 400") << before.size();
    EXPECT_EQ(bytewise(before + get), whole(before + get));
  }
}

TEST(RequestReader, holds_nothing_between_requests) {
  const HeadLimits limits;
  RequestReader reader(limits);
  Request request;
  Framing framing;
  const auto feed = [&](std::string bytes) {
    reader.feed(bytes);
    Step step;
    while ((step = reader.next(request, framing)) != Step::need_more) {
      if (step == Step::head) {
        ASSERT_FALSE(reader.accept(1 << 20));
      }
      if (step == Step::request) reader.finish();
    }
    reader.park();
  };
  const std::size_t none = std::string().capacity();
  EXPECT_EQ(reader.held_bytes(), none);
  EXPECT_EQ(reader.place(), Place::between_requests);
  feed("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(reader.held_bytes(), none);
  feed("POST / HTTP/1.1\r\nHost: h\r\n");
  EXPECT_EQ(reader.place(), Place::in_head);
  EXPECT_GT(reader.held_bytes(), none);
  feed("Content-Length: 100000\r\n\r\n");
  EXPECT_EQ(reader.place(), Place::in_body);
  feed(std::string(99'999, 'x'));
  EXPECT_EQ(reader.body_bytes(), 99'999U);
  EXPECT_GE(reader.held_bytes(), 99'999U);
  // The last byte, and the start of another request: only that is kept.
  feed("xGET ");
  EXPECT_EQ(reader.place(), Place::in_head);
  EXPECT_LT(reader.held_bytes(), 100U);
  feed("/ HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(reader.place(), Place::between_requests);
  EXPECT_EQ(reader.held_bytes(), none);
  feed("\r\n");
  EXPECT_EQ(reader.place(), Place::between_requests);
}

TEST(RequestReader, abandons_what_it_held) {
  const HeadLimits limits;
  RequestReader reader(limits);
  std::string bytes(1'000, 'A');
  reader.feed(bytes);
  reader.park();
  EXPECT_GE(reader.held_bytes(), 1'000U);
  reader.abandon();
  EXPECT_LT(reader.held_bytes(), 100U);
}

TEST(RequestReader, does_not_care_where_the_input_is_cut) {
  const std::string pieces[] = {
      "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n",
      "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
      "POST /skip HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
      "\r\n",
      "\n",
      " ",
      "GET",
      ":",
      "X: " + std::string(90, 'z') + "\r\n",
      "0\r\n\r\n",
      std::string(70, 'U'),
      std::string(1, '\0')};
  Rng rng(11);
  for (int round = 0; round < 5'000; ++round) {
    std::string bytes;
    for (auto count = 1 + rng.below(6); count > 0; --count) bytes += pieces[rng.below(15)];
    if (rng.below(3) == 0 && !bytes.empty()) bytes[rng.below(bytes.size())] = '\r';
    const std::string expected = whole(bytes);
    ASSERT_EQ(bytewise(bytes), expected) << bytes;
    ASSERT_EQ(transcript(bytes, [&] { return 1 + rng.below(40); }), expected) << bytes;
  }
}

}  // namespace
}  // namespace penstock::wire
