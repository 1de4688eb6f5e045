#include "engine/http/answer.h"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

TEST(ErrorSentence, is_the_daemons_own_where_it_has_one) {
  EXPECT_EQ(error_sentence({.status = 404,
                            .body = R"({"status":404,"error":"Not Found","message":"no config"})",
                            .retry_after = {}}),
            "404 Not Found: no config");
}

TEST(ErrorSentence, survives_any_body) {
  for (const char* body : {"", "<html>", "[]", "{\"error\":5}", "{"}) {
    EXPECT_EQ(error_sentence({.status = 502, .body = body, .retry_after = {}}), "502");
  }
}

TEST(ErrorSentence, says_how_to_give_a_token) {
  EXPECT_EQ(error_sentence({.status = 401, .body = "", .retry_after = {}}),
            "401 (give the token by --token-file or PENSTOCK_TOKEN)");
}

}  // namespace
}  // namespace penstock::http
