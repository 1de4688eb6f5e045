// The parts of the HTTP sink that know no socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sink/address_guard.h"
#include "sink/http/answer.h"
#include "sink/http/request.h"
#include "sink/http/signature.h"
#include "sink/http/test_sink.h"

namespace penstock::sink {
namespace {

using testing::HasSubstr;

TEST(AddressGuard, knows_what_is_public) {
  for (const std::string_view text :
       {"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "172.15.255.255", "172.32.0.0", "192.167.0.1", "223.255.255.255", "2606:4700::1111",
        "2a00:1450::1", "64:ff9b::808:808", "::ffff:8.8.8.8"}) {
    EXPECT_TRUE(is_public_address(*wire::parse_ip_address(text))) << text;
  }
}

TEST(AddressGuard, knows_what_is_not) {
  for (const std::string_view text : {"0.0.0.0",
                                      "0.1.2.3",
                                      "10.0.0.1",
                                      "10.255.255.255",
                                      "100.64.0.1",
                                      "100.127.255.255",
                                      "127.0.0.1",
                                      "127.255.0.1",
                                      "169.254.169.254",
                                      "172.16.0.1",
                                      "172.31.255.255",
                                      "192.0.0.1",
                                      "192.0.2.1",
                                      "192.168.1.1",
                                      "198.18.0.1",
                                      "198.19.255.255",
                                      "198.51.100.7",
                                      "203.0.113.9",
                                      "224.0.0.1",
                                      "239.1.1.1",
                                      "240.0.0.1",
                                      "255.255.255.255",
                                      "::",
                                      "::1",
                                      "::ffff:127.0.0.1",
                                      "::ffff:10.0.0.1",
                                      "::127.0.0.1",
                                      "64:ff9b::7f00:1",
                                      "64:ff9b::a00:1",
                                      "64:ff9b:1::1",
                                      "fc00::1",
                                      "fd12:3456::1",
                                      "fe80::1",
                                      "fec0::1",
                                      "ff02::1",
                                      "2001::1",
                                      "2001:db8::1",
                                      "2002:7f00:1::",
                                      "3fff::1",
                                      "100::1",
                                      "5f00::1"}) {
    EXPECT_FALSE(is_public_address(*wire::parse_ip_address(text))) << text;
  }
}

TEST(Outcome, follows_the_contract) {
  const auto judged = [](int status, std::string_view retry_after = "") {
    return told(judge_answer(status, retry_after, kTestNow));
  };
  EXPECT_EQ(judged(200), "done: HTTP 200");
  EXPECT_EQ(judged(204, "5"), "done: HTTP 204");
  EXPECT_EQ(judged(299), "done: HTTP 299");
  EXPECT_EQ(judged(429), "slow_down: HTTP 429");
  EXPECT_EQ(judged(429, "7"), "slow_down: HTTP 429 7000");
  EXPECT_EQ(judged(429, "never"), "slow_down: HTTP 429");
  EXPECT_EQ(judged(429, "Tue, 14 Nov 2023 22:15:10 GMT"), "slow_down: HTTP 429 10000");
  EXPECT_EQ(judged(503, "7"), "slow_down: HTTP 503 7000");
  EXPECT_EQ(judged(503), "failed: HTTP 503");
  EXPECT_EQ(judged(503, "never"), "failed: HTTP 503");
  for (const int status : {408, 425, 500, 502, 504, 599, 600, 999, 101, 0}) {
    EXPECT_EQ(judged(status, "7"), "failed: HTTP " + std::to_string(status));
  }
  for (const int status : {400, 401, 403, 404, 409, 410, 413, 422, 424, 426, 428, 431, 451, 499}) {
    EXPECT_EQ(judged(status, "7"), "refused: HTTP " + std::to_string(status));
  }
  for (const int status : {300, 301, 302, 304, 307, 308, 399}) {
    EXPECT_EQ(judged(status),
              "failed: HTTP " + std::to_string(status) + ", redirects are not followed");
  }
}

std::string sign(const std::vector<std::string>& secrets, std::string_view id,
                 std::string_view timestamp, std::initializer_list<std::string_view> body) {
  Result<WebhookSigner> signer = WebhookSigner::make(secrets);
  EXPECT_TRUE(signer);
  std::string out;
  for (int i = 0; i < 2; ++i) {  // the key serves again
    out.clear();
    signer->append_signatures(out, id, timestamp, body);
  }
  return out;
}

// The example that libraries of Standard Webhooks are tested with.
constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr std::string_view kText = "a raw secret of text";

TEST(Signature, is_that_of_standard_webhooks) {
  EXPECT_EQ(sign({std::string(kSecret)}, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
                 {R"({"test": )", "2432232314", "}"}),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  // Python: base64(hmac.new(b"a raw secret of text", b"PAYMENT:p-1.1700000000." + body, sha256)).
  EXPECT_EQ(sign({std::string(kText)}, "PAYMENT:p-1", "1700000000",
                 {R"({"itemType":"PAYMENT","context":{"a":1}})"}),
            "v1,o5Y4hCVXeQBnwmRfhrEh5yqPTS0dZI1YAmacE/zxgKg=");
}

TEST(Signature, is_made_with_every_secret) {
  const std::string first = sign({std::string(kText)}, "i", "1", {"{}"});
  const std::string second = sign({std::string(kSecret)}, "i", "1", {"{}"});
  EXPECT_EQ(sign({std::string(kText), std::string(kSecret)}, "i", "1", {"{}"}),
            first + " " + second);
}

TEST(Signature, needs_a_secret_that_can_be_read) {
  const Result<WebhookSigner> signer = WebhookSigner::make({"whsec_?"});
  ASSERT_FALSE(signer);
  EXPECT_EQ(signer.error().field, "sink.secrets");
}

std::string written(const Handover& item, const std::vector<std::string>& secrets = {}) {
  RequestWriter writer(*wire::parse_http_url("https://Example.com:8443/hook?x=1"), "Penstock/1.2.3",
                       std::move(*WebhookSigner::make(secrets)));
  std::string out;
  if (!writer.write(out, item, item.context, kTestNow)) return "refused";
  return out + item.context + std::string(RequestWriter::kBodyEnd);
}

TEST(Request, is_what_the_contract_says) {
  EXPECT_EQ(
      written(handover("p-1", R"({"amount": "1.50"})"), {std::string(kText), std::string(kSecret)}),
      "POST /hook?x=1 HTTP/1.1\r\n"
      "Host: example.com:8443\r\n"
      "User-Agent: Penstock/1.2.3\r\n"
      "Content-Type: application/json\r\n"
      "Accept: */*\r\n"
      "Idempotency-Key: PAYMENT:p-1\r\n"
      "webhook-id: PAYMENT:p-1\r\n"
      "webhook-timestamp: 1700000100\r\n"
      // Both by Python, over the body below.
      "webhook-signature: v1,nGQ/BGnnh+hTBIpp83scYcBzr0cpMimLs5JLAnCKvjU= "
      "v1,B4zMyKj5te1wHC2e69cygrfqlkfRTbH23kU2X54lY4o=\r\n"
      "Content-Length: 121\r\n"
      "\r\n"
      R"({"itemType":"PAYMENT","itemId":"p-1","scheduledTime":"2023-11-14T22:13:20.000Z",)"
      R"("attempt":3,"context":{"amount": "1.50"}})");
}

TEST(Request, has_no_signature_without_a_secret) {
  EXPECT_EQ(written(handover()).find("webhook-signature"), std::string::npos);
}

TEST(Request, escapes_ids_in_json_and_keeps_them_in_headers) {
  const std::string request = written(handover(R"(a"b\c)"));
  EXPECT_THAT(request, HasSubstr("\r\nIdempotency-Key: PAYMENT:a\"b\\c\r\n"));
  EXPECT_THAT(request, HasSubstr(R"("itemId":"a\"b\\c")"));
}

TEST(Request, lets_no_id_break_out_of_its_line) {
  EXPECT_EQ(written(handover("a\r\nX-Evil: 1")), "refused");
  EXPECT_EQ(written(handover("a b")), "refused");
  EXPECT_EQ(written(handover("\xc3\xa4")), "refused");
}

// Feeds bytes one by one or all at once, as a socket may.
std::string read_answer(std::string_view bytes, bool one_by_one) {
  AnswerReader reader;
  reader.restart();
  std::string kept;
  AnswerReader::State state = AnswerReader::State::need_more;
  for (std::size_t at = 0; at < bytes.size() && state == AnswerReader::State::need_more;) {
    const std::size_t count = one_by_one ? 1 : bytes.size();
    kept += bytes.substr(at, count);
    at += count;
    const auto progress = reader.read(kept);
    kept.erase(0, progress.read);
    state = progress.state;
    if (state == AnswerReader::State::complete && at < bytes.size()) kept += bytes.substr(at);
  }
  std::string out = state == AnswerReader::State::complete ? "complete"
                    : state == AnswerReader::State::broken ? "broken"
                                                           : "need more";
  if (reader.has_status()) out += " " + std::to_string(reader.status());
  if (!reader.retry_after().empty()) out += " after " + std::string(reader.retry_after());
  if (reader.keeps_alive()) out += " alive";
  if (state == AnswerReader::State::complete && !kept.empty()) out += " rest " + kept;
  return out;
}

TEST(Answer, is_read_however_it_is_cut) {
  const std::string big(kAnswerBodyBytesMax, 'x');
  const std::pair<std::string, std::string_view> cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "complete 200 alive"},
      {"HTTP/1.1 204 No Content\r\n\r\n", "complete 204 alive"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP", "complete 200 alive rest HTTP"},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "complete 200"},
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "complete 200"},
      {"HTTP/1.1 503 Busy\r\nretry-AFTER:  7 \r\nContent-Length: 0\r\n\r\n",
       "complete 503 after 7 alive"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
       "complete 200 alive"},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Made\r\n"
       "Content-Length: 0\r\n\r\n",
       "complete 201 alive"},
      {"HTTP/1.1 101 Switch\r\n\r\n", "complete 101 alive"},
      {"HTTP/1.1 200 OK\r\n\r\nuntil the end", "need more 200"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", "need more 200"},
      {"HTTP/1.1 200 OK\r\nContent-Le", "need more"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n", "need more 200"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\nx", "broken 200"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n" + big, "complete 200 alive"},
      {"HTTP/1.1 200 OK\r\n\r\n" + big + "x", "broken 200"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", "broken"},
      {"HTTP/1.1 200 OK\r\nX: " + big + "\r\n\r\n", "broken"},
      {"SSH-2.0-OpenSSH\r\n\r\n", "broken"},
      {std::string("\0\0\0\0\r\n\r\n", 8), "broken"},
  };
  for (const auto& [bytes, expected] : cases) {
    EXPECT_EQ(read_answer(bytes, false), expected) << bytes.substr(0, 100);
    EXPECT_EQ(read_answer(bytes, true), expected) << bytes.substr(0, 100);
  }
}

TEST(Answer, ends_when_it_never_comes_to_the_point) {
  std::string bytes;
  for (int i = 0; i < 9; ++i) bytes += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_THAT(read_answer(bytes, false), HasSubstr("broken"));
}

}  // namespace
}  // namespace penstock::sink
