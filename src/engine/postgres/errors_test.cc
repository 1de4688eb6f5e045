#include "engine/postgres/connection.h"

#include <gtest/gtest.h>

namespace penstock::store::postgres {
namespace {

TEST(Errors, tells_what_a_retry_may_mend_from_what_it_may_not) {
  EXPECT_EQ(translate("57014", "canceling statement").error.kind, ErrorKind::timeout);
  EXPECT_EQ(translate("55P03", "lock timeout").error.kind, ErrorKind::timeout);
  for (const char* passing : {"57P01", "57P03", "53300", "08006", "40001", "40P01", "25006"}) {
    EXPECT_EQ(translate(passing, "x").error.kind, ErrorKind::unavailable) << passing;
    EXPECT_TRUE(translate(passing, "x").error.retryable()) << passing;
  }
  EXPECT_EQ(translate("XX001", "bad page").error.kind, ErrorKind::corrupt);
}

TEST(Errors, repeats_only_what_was_rolled_back_for_a_passing_reason) {
  EXPECT_TRUE(worth_repeating(translate("40001", "x")));
  EXPECT_TRUE(worth_repeating(translate("40P01", "x")));
  EXPECT_TRUE(worth_repeating(translate("23505", "x")));
  EXPECT_FALSE(worth_repeating(translate("57P01", "x")));
  EXPECT_FALSE(worth_repeating(connection_lost("reset by peer", true)));
}

TEST(Errors, says_whether_the_outcome_is_known) {
  EXPECT_NE(connection_lost("x", true).error.what.find("unknown"), std::string::npos);
  EXPECT_EQ(connection_lost("x", false).error.what.find("unknown"), std::string::npos);
  EXPECT_EQ(translate("57P01", "one\ntwo\n").error.what, "postgres: one two (57P01)");
}

}  // namespace
}  // namespace penstock::store::postgres
