#include "wire/http/message.h"

#include <gtest/gtest.h>

#include "wire/percent.h"

namespace penstock::wire {
namespace {

TEST(PercentDecode, gives_the_bytes_meant) {
  std::string out = "old";
  ASSERT_TRUE(wire::percent_decode("", out));
  EXPECT_EQ(out, "");
  ASSERT_TRUE(wire::percent_decode("a%2Fb%2fc+d%25", out));
  EXPECT_EQ(out, "a/b/c+d%");
  ASSERT_TRUE(wire::percent_decode("%00%ff", out));
  EXPECT_EQ(out, std::string("\0\xff", 2));
}

TEST(PercentDecode, refuses_broken_escapes) {
  std::string out;
  for (const char* text : {"%", "%4", "a%", "%zz", "%4g", "%g4", "%%41", "%-1", "% 1"}) {
    EXPECT_FALSE(wire::percent_decode(text, out)) << text;
  }
}

TEST(Request, finds_headers_in_any_case) {
  Request request;
  request.headers = {{"Content-Type", "a"}, {"X-One", "1"}, {"x-one", "2"}};
  EXPECT_EQ(request.header("content-type"), "a");
  EXPECT_EQ(request.header("X-ONE"), "1");
  EXPECT_EQ(request.header("x-two"), "");
}

TEST(Request, finds_query_parameters) {
  Request request;
  request.query = "a=1&b=x%20y&a=2&flag&empty=&at=2025-06-01T00:00:00+02:00&bad=%4";
  EXPECT_EQ(request.query_param("a").value(), "1");
  EXPECT_EQ(request.query_param("b").value(), "x y");
  EXPECT_EQ(request.query_param("flag").value(), "");
  EXPECT_EQ(request.query_param("empty").value(), "");
  EXPECT_EQ(request.query_param("at").value(), "2025-06-01T00:00:00+02:00");
  EXPECT_EQ(request.query_param("none").value(), std::nullopt);
  EXPECT_EQ(request.query_param("").value(), std::nullopt);
}

TEST(Request, names_the_query_parameter_with_a_broken_encoding) {
  Request request;
  request.query = "bad=%4";
  const auto result = request.query_param("bad");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::invalid);
  EXPECT_EQ(result.error().field, "bad");
}

TEST(Method, has_its_name_on_the_wire) {
  EXPECT_EQ(to_string(Method::get), "GET");
  EXPECT_EQ(to_string(Method::del), "DELETE");
  EXPECT_EQ(to_string(Method::other), "OTHER");
}

}  // namespace
}  // namespace penstock::wire
