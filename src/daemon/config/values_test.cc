#include "daemon/config/values.h"

#include <gtest/gtest.h>

namespace penstock::daemon {
namespace {

FieldInfo number(std::int64_t min, std::int64_t max) {
  FieldInfo field;
  field.kind = FieldKind::integer;
  field.min = min;
  field.max = max;
  return field;
}

std::string problem(const FieldInfo& field, const Form& form, std::string_view text) {
  const Result<FieldValue> value = parse_value(field, form, text);
  return value ? "none" : value.error().what;
}

TEST(ParseValue, takes_true_and_false_only) {
  EXPECT_EQ(parse_value({}, kBoolean, "true"), FieldValue(true));
  EXPECT_EQ(parse_value({}, kBoolean, "false"), FieldValue(false));
  EXPECT_EQ(problem({}, kBoolean, "yes"), "must be true or false, not \"yes\"");
}

TEST(ParseValue, takes_whole_numbers_within_the_range) {
  const FieldInfo field = number(2, 5);
  EXPECT_EQ(parse_value(field, kCount, "2"), FieldValue(std::int64_t{2}));
  EXPECT_EQ(parse_value(field, kCount, "5"), FieldValue(std::int64_t{5}));
  for (const char* bad : {"1", "6", "3.0", "", " 3", "3 ", "+3", "0x3", "99999999999999999999"}) {
    EXPECT_EQ(problem(field, kCount, bad),
              std::string("must be a whole number from 2 to 5, not \"") + bad + "\"");
  }
}

TEST(ParseValue, takes_sizes_in_bytes_and_binary_units) {
  const FieldInfo field = number(0, std::int64_t{1} << 40);
  const auto bytes = [&](std::string_view text) {
    return std::get<std::int64_t>(
        parse_value(field, kBytes, text).value_or(FieldValue(std::int64_t{-1})));
  };
  EXPECT_EQ(bytes("1000"), 1000);
  EXPECT_EQ(bytes("64KiB"), 65'536);
  EXPECT_EQ(bytes("16 MiB"), 16 << 20);
  EXPECT_EQ(bytes("1TiB"), std::int64_t{1} << 40);
  for (const char* bad :
       {"16MB", "16M", "KiB", "-1KiB", "1.5MiB", "2TiB", "9223372036854775807KiB"}) {
    EXPECT_EQ(bytes(bad), -1) << bad;
  }
}

TEST(ParseValue, takes_iso_durations_within_the_range) {
  const FieldInfo field = number(100, 3'600'000);
  EXPECT_EQ(parse_value(field, kDuration, "PT0.1S"), FieldValue(std::int64_t{100}));
  EXPECT_EQ(parse_value(field, kDuration, "PT1H"), FieldValue(std::int64_t{3'600'000}));
  EXPECT_EQ(problem(field, kDuration, "10s"),
            "must be an ISO-8601 duration (PT0.5S, PT10S, P1D) from PT0.1S to PT1H, not \"10s\"");
  EXPECT_NE(problem(field, kDuration, "PT0S"), "none");
  EXPECT_NE(problem(field, kDuration, "P1D"), "none");
}

TEST(ParseValue, takes_listed_words_only) {
  constexpr std::array<std::string_view, 3> kWords{"auto", "text", "json"};
  FieldInfo field;
  field.choices = kWords;
  for (const char* good : {"auto", "text", "json"}) {
    EXPECT_EQ(parse_value(field, kChoice, good), FieldValue(std::string(good)));
  }
  for (const char* bad : {"", "aut", "auto|text", "JSON"})
    EXPECT_NE(problem(field, kCount, bad), "none");
  EXPECT_EQ(problem(field, kChoice, "xml"), "must be auto, text or json, not \"xml\"");
}

TEST(ParseValue, shows_a_bad_value_on_one_bounded_line) {
  EXPECT_EQ(problem({}, kBoolean, "a\nb\x1b"), "must be true or false, not \"a?b?\"");
  EXPECT_LT(problem({}, kBoolean, std::string(10'000, 'x')).size(), 200U);
}

TEST(WithoutPassword, hides_it_wherever_libpq_takes_one) {
  const std::pair<const char*, const char*> cases[] = {
      {"postgresql://app@db/penstock", "postgresql://app@db/penstock"},
      {"postgresql://app:hush@db/penstock", "postgresql://app:***@db/penstock"},
      {"postgres://app:hu:sh@db1:5432,db2:5433/p", "postgres://app:***@db1:5432,db2:5433/p"},
      {"postgresql://app:h@sh@db", "postgresql://app:***@db"},
      {"postgresql://db:5432/p?user=a&password=hush&sslmode=require",
       "postgresql://db:5432/p?user=a&password=***&sslmode=require"},
      {"host=db password=hush dbname=p", "host=db password=*** dbname=p"},
      {"host=db password = 'hu sh' dbname=p", "host=db password = *** dbname=p"},
      {R"(password='hu\'sh' host=db)", "password=*** host=db"},
      {"sslpassword=one password=two", "sslpassword=*** password=***"},
      {"password=", "password="},
      {"password='unclosed", "password=***"},
      {"host=password.example", "host=password.example"},
      {"postgresql://", "postgresql://"},
  };
  for (const auto& [given, shown] : cases) EXPECT_EQ(without_password(given), shown) << given;
  EXPECT_EQ(format_value(kConnection, FieldValue(std::string("password=hush"))), "password=***");
}

TEST(ParseValue, does_not_show_a_connection_that_it_refuses) {
  const auto refused = parse_value({}, kConnection, "password=hush\nhost=db");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().what, "must be a URI or keywords of 1 to 4096 characters on one line");
}

TEST(FormatValue, writes_what_parses_back) {
  EXPECT_EQ(format_value(kBytes, std::int64_t{16 << 20}), "16MiB");
  EXPECT_EQ(format_value(kBytes, std::int64_t{1500}), "1500");
  EXPECT_EQ(format_value(kBytes, std::int64_t{0}), "0");
  EXPECT_EQ(format_value(kDuration, std::int64_t{90'000}), "PT1M30S");
  EXPECT_EQ(format_value(kListen, *parse_value({}, kListen, "[::1]:80")), "[::1]:80");
  EXPECT_EQ(format_value(kPath, FieldValue()), "");
}

using wire::KeyPart;
using wire::KeyRule;

auto blocks(std::string_view text) { return parse_address_blocks(split_list(text)); }
auto rules(std::string_view text) { return parse_key_rules(split_list(text)); }
auto topics(std::string_view text) { return parse_intake_topics(split_list(text)); }

TEST(AddressBlocks, are_a_list_of_addresses_and_networks) {
  ASSERT_TRUE(blocks(""));
  EXPECT_TRUE(blocks("")->empty());
  const auto list = blocks("10.0.0.0/8, ::1,192.0.2.1");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 3U);
  EXPECT_EQ((*list)[0].bits, 104U);
  EXPECT_EQ((*list)[1].bits, 128U);
  for (const char* bad : {",", "10.0.0.0/8,", "proxy", "10.0.0.1/8", "10.0.0.0/8;::1"}) {
    EXPECT_FALSE(blocks(bad)) << bad;
  }
}

TEST(KeyRules, are_lists_of_known_words) {
  EXPECT_EQ(rules("ip"), (std::vector<KeyRule>{{KeyPart::ip}}));
  EXPECT_EQ(
      rules("ip, api-key,user+route"),
      (std::vector<KeyRule>{{KeyPart::ip}, {KeyPart::api_key}, {KeyPart::user, KeyPart::route}}));
  for (const char* bad : {"", ",", "ip,", "ip+", "ip+ip", "cookie", "IP", "apiKey",
                          "ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip"}) {
    EXPECT_FALSE(rules(bad)) << bad;
  }
}

TEST(HeaderName, is_a_token) {
  EXPECT_TRUE(is_header_name("X-User-Id"));
  for (const char* bad : {"", "X User", "X-User:", "ü"}) EXPECT_FALSE(is_header_name(bad)) << bad;
}

TEST(IntakeTopics, map_topics_to_item_types) {
  const auto map = topics("payments.v1=PAYMENT, orders=ORDER=1");
  ASSERT_TRUE(map);
  ASSERT_EQ(map->size(), 2U);
  EXPECT_EQ(map->at("payments.v1").str(), "PAYMENT");
  EXPECT_EQ(map->at("orders").str(), "ORDER=1");
}

TEST(IntakeTopics, refuse_what_is_no_such_list) {
  for (const char* text :
       {"", "payments", "=PAYMENT", "payments=", "a=A,", "a=A,a=B", "a/b=A", "..=A", "a=A,,b=B"}) {
    EXPECT_FALSE(topics(text)) << text;
  }
}

TEST(Lists, are_written_as_they_are_read) {
  for (const char* text : {"10.0.0.0/8,::1/128", "2001:db8::/32"}) {
    EXPECT_EQ(format_address_blocks(*blocks(text)), split_list(text)) << text;
  }
  EXPECT_EQ(format_key_rules(*rules("ip,user+route")), split_list("ip,user+route"));
  EXPECT_EQ(format_intake_topics(*topics("a=A,b=B")), split_list("a=A,b=B"));
}

}  // namespace
}  // namespace penstock::daemon
