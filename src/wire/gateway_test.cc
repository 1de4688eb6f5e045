#include "wire/gateway.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::wire {
namespace {

Result<QuotaCall> quota(std::string_view text) {
  const auto document = parse_json(text);
  if (!document) return std::unexpected(document.error());
  return decode_quota_call(document->root());
}

Result<core::SendCall> send(std::string_view text) {
  const auto document = parse_json(text);
  if (!document) return std::unexpected(document.error());
  return decode_send_call(document->root());
}

std::string wrong_field(const auto& result) { return result ? "nothing" : result.error().field; }

TEST(GatewayWire, reads_a_config) {
  const auto call = quota(R"({"userId":101,"rateLimit":10,"timeWindow":5})");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->user.raw, 101);
  EXPECT_EQ(call->rule, (core::QuotaRule{.rate_limit = 10, .window = core::Minutes{5}}));
}

TEST(GatewayWire, a_number_to_send_to_is_part_of_the_message) {
  const auto call = send(R"({"userId":1,"message":"Hi","to":"+4915112345678"})");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->to, "+4915112345678");
  const auto other = send(R"({"userId":1,"message":"Hi","to":"+4915112345679"})");
  const auto none = send(R"({"userId":1,"message":"Hi"})");
  EXPECT_NE(call->digest, other->digest);
  EXPECT_NE(call->digest, none->digest);
  const ItemId id = ItemId::trusted("m-1");
  EXPECT_NE(encode_message_context(*call, id, {}).find(R"("to":"+4915112345678")"),
            std::string::npos);
  EXPECT_EQ(encode_message_context(*none, id, {}).find("\"to\""), std::string::npos);
  for (const std::string_view to : {R"("")", R"("Bob")", R"("+")", R"("0049 15")", "5"}) {
    EXPECT_EQ(wrong_field(send(R"({"userId":1,"message":"Hi","to":)" + std::string(to) + "}")),
              "to")
        << to;
  }
}

TEST(GatewayWire, names_the_field_of_a_config_that_is_wrong) {
  EXPECT_EQ(wrong_field(quota(R"({"rateLimit":10,"timeWindow":5})")), "userId");
  EXPECT_EQ(wrong_field(quota(R"({"userId":"101","rateLimit":10,"timeWindow":5})")), "userId");
  EXPECT_EQ(wrong_field(quota(R"({"userId":-1,"rateLimit":10,"timeWindow":5})")), "userId");
  EXPECT_EQ(wrong_field(quota(R"({"userId":1,"rateLimit":0,"timeWindow":5})")), "rateLimit");
  EXPECT_EQ(wrong_field(quota(R"({"userId":1,"rateLimit":1.5,"timeWindow":5})")), "rateLimit");
  EXPECT_EQ(wrong_field(quota(R"({"userId":1,"rateLimit":1,"timeWindow":0})")), "timeWindow");
  EXPECT_EQ(wrong_field(quota(R"({"userId":1,"rateLimit":1})")), "timeWindow");
  EXPECT_EQ(wrong_field(quota(R"({"userId":1,"rateLimits":1,"timeWindow":1})")), "rateLimits");
  EXPECT_FALSE(quota("[]"));
}

TEST(GatewayWire, reads_a_message) {
  const auto call = send(R"({"userId":101,"message":"Hello World","idempotencyKey":"k-1"})");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->user.raw, 101);
  EXPECT_EQ(call->message, "Hello World");
  EXPECT_EQ(call->key, "k-1");
  EXPECT_EQ(call->size.segments, 1);
}

TEST(GatewayWire, names_the_field_of_a_message_that_is_wrong) {
  EXPECT_EQ(wrong_field(send(R"({"message":"x"})")), "userId");
  EXPECT_EQ(wrong_field(send(R"({"userId":1})")), "message");
  EXPECT_EQ(wrong_field(send(R"({"userId":1,"message":" \n"})")), "message");
  EXPECT_EQ(wrong_field(send(R"({"userId":1,"message":5})")), "message");
  EXPECT_EQ(wrong_field(send(R"({"userId":1,"message":"x","idempotencyKey":"a b"})")),
            "idempotencyKey");
  const std::string long_text(153 * 255 + 1, 'x');
  EXPECT_EQ(wrong_field(send(R"({"userId":1,"message":")" + long_text + "\"}")), "message");
  EXPECT_TRUE(send(R"({"userId":1,"message":")" + long_text.substr(1) + "\"}"));
}

TEST(GatewayWire, a_digest_tells_messages_apart) {
  const auto digest = [](std::string_view text) { return send(text)->digest; };
  EXPECT_EQ(digest(R"({"userId":1,"message":"a"})"), digest(R"({"message":"a", "userId":1})"));
  EXPECT_NE(digest(R"({"userId":1,"message":"a"})"), digest(R"({"userId":1,"message":"b"})"));
  EXPECT_NE(digest(R"({"userId":1,"message":"a"})"), digest(R"({"userId":2,"message":"a"})"));
}

TEST(GatewayWire, a_context_reads_back_as_the_line_of_the_log) {
  const auto call = send(R"({"userId":101,"message":"Grüße \"😀\"\n"})");
  ASSERT_TRUE(call);
  const std::string context =
      encode_message_context(*call, ItemId::trusted("m-1"), Instant{Seconds{1'700'000'000}});
  EXPECT_EQ(context,
            "{\"messageId\":\"m-1\",\"userId\":101,\"message\":\"Grüße \\\"😀\\\"\\n\","
            "\"encoding\":\"UCS-2\",\"segments\":1,\"acceptedAt\":\"2023-11-14T22:13:20.000Z\"}");
  EXPECT_EQ(message_line(context), "101: Grüße \"😀\"\n");
  EXPECT_FALSE(message_line("{}"));
  EXPECT_FALSE(message_line("nonsense"));
}

TEST(MessageLine, reads_back_as_the_same_message) {
  for (const std::string_view message : {"Hello", "a: b: c", " 5: x", "😀\n\"", ": "}) {
    const std::string line = encode_message_line(core::UserId{101}, message);
    const auto call = decode_message_line(line);
    if (core::is_blank(message)) continue;
    ASSERT_TRUE(call) << line;
    EXPECT_EQ(call->user.raw, 101);
    EXPECT_EQ(call->message, message);
    EXPECT_EQ(call->size, core::measure_sms(message));
  }
  const auto document = parse_json(R"({"userId":7,"message":"Hi"})");
  EXPECT_EQ(decode_message_line("7: Hi", "+4917")->to, "+4917");
  EXPECT_FALSE(decode_message_line("7: Hi", "by hand"));
  EXPECT_EQ(decode_message_line("7: Hi")->digest, decode_send_call(document->root())->digest)
      << "whatever way it came";
}

TEST(MessageLine, refuses_what_is_none) {
  for (const std::string_view line :
       {"", "Hello", "101", "101:Hello", "101: ", "101:  \n", ": Hello", "-1: Hello", "+1: Hello",
        "1.5: Hello", "x1: Hello", "2147483648: Hello", "101: \xff"}) {
    EXPECT_FALSE(decode_message_line(line)) << line;
  }
  EXPECT_FALSE(decode_message_line("1: " + std::string(153 * 255 + 1, 'x'))) << "too many parts";
}

TEST(Traceparent, is_of_one_form) {
  const std::string good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_TRUE(is_traceparent(good));
  EXPECT_FALSE(is_traceparent(""));
  EXPECT_FALSE(is_traceparent(good + "0"));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = bad[i] == '-' ? '0' : 'G';
    EXPECT_FALSE(is_traceparent(bad)) << bad;
  }
}

}  // namespace
}  // namespace penstock::wire
