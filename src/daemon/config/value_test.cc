#include "daemon/config/value.h"

#include <gtest/gtest.h>

namespace penstock::daemon {
namespace {

using Kind = ValueKind;

std::string problem(const ValueType& type, std::string_view text) {
  const Result<Value> value = parse_value(type, text);
  return value ? "none" : value.error().what;
}

TEST(ParseValue, takes_true_and_false_only) {
  EXPECT_EQ(parse_value({.kind = Kind::boolean}, "true"), Value(true));
  EXPECT_EQ(parse_value({.kind = Kind::boolean}, "false"), Value(false));
  EXPECT_EQ(problem({.kind = Kind::boolean}, "yes"), "must be true or false, not \"yes\"");
}

TEST(ParseValue, takes_whole_numbers_within_the_range) {
  const ValueType type{.kind = Kind::count, .min = 2, .max = 5};
  EXPECT_EQ(parse_value(type, "2"), Value(std::int64_t{2}));
  EXPECT_EQ(parse_value(type, "5"), Value(std::int64_t{5}));
  for (const char* bad : {"1", "6", "3.0", "", " 3", "3 ", "+3", "0x3", "99999999999999999999"}) {
    EXPECT_EQ(problem(type, bad),
              std::string("must be a whole number from 2 to 5, not \"") + bad + "\"");
  }
}

TEST(ParseValue, takes_sizes_in_bytes_and_binary_units) {
  const ValueType type{.kind = Kind::bytes, .min = 0, .max = std::int64_t{1} << 40};
  const auto bytes = [&](std::string_view text) {
    return std::get<std::int64_t>(parse_value(type, text).value_or(Value(std::int64_t{-1})));
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
  const ValueType type{.kind = Kind::duration, .min = 100, .max = 3'600'000};
  EXPECT_EQ(parse_value(type, "PT0.1S"), Value(Millis{100}));
  EXPECT_EQ(parse_value(type, "PT1H"), Value(Millis{3'600'000}));
  EXPECT_EQ(problem(type, "10s"),
            "must be an ISO-8601 duration (PT0.5S, PT10S, P1D) from PT0.1S to PT1H, not \"10s\"");
  EXPECT_NE(problem(type, "PT0S"), "none");
  EXPECT_NE(problem(type, "P1D"), "none");
}

TEST(ParseValue, takes_listed_words_only) {
  const ValueType type{.kind = Kind::choice, .choices = "auto|text|json"};
  for (const char* good : {"auto", "text", "json"}) EXPECT_EQ(parse_value(type, good), Value(good));
  for (const char* bad : {"", "aut", "auto|text", "JSON"}) EXPECT_NE(problem(type, bad), "none");
  EXPECT_EQ(problem(type, "xml"), "must be auto, text or json, not \"xml\"");
}

TEST(ParseValue, shows_a_bad_value_on_one_bounded_line) {
  EXPECT_EQ(problem({.kind = Kind::boolean}, "a\nb\x1b"), "must be true or false, not \"a?b?\"");
  EXPECT_LT(problem({.kind = Kind::boolean}, std::string(10'000, 'x')).size(), 200U);
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
  EXPECT_EQ(format_value({.kind = Kind::connection}, Value(std::string("password=hush"))),
            "password=***");
}

TEST(ParseValue, does_not_show_a_connection_that_it_refuses) {
  const auto refused = parse_value({.kind = Kind::connection}, "password=hush\nhost=db");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().what, "must be a URI or keywords of 1 to 4096 characters on one line");
}

TEST(FormatValue, writes_what_parses_back) {
  const ValueType bytes{.kind = Kind::bytes};
  EXPECT_EQ(format_value(bytes, Value(std::int64_t{16 << 20})), "16MiB");
  EXPECT_EQ(format_value(bytes, Value(std::int64_t{1500})), "1500");
  EXPECT_EQ(format_value(bytes, Value(std::int64_t{0})), "0");
  EXPECT_EQ(format_value({.kind = Kind::duration}, Value(Millis{90'000})), "PT1M30S");
  EXPECT_EQ(format_value({.kind = Kind::listen}, Value(wire::ListenAddress{"::1", 80})),
            "[::1]:80");
  EXPECT_EQ(format_value({.kind = Kind::path}, Value()), "");
}

}  // namespace
}  // namespace penstock::daemon
