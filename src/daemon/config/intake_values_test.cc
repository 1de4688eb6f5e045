#include "daemon/config/intake_values.h"

#include <gtest/gtest.h>

namespace penstock::daemon {
namespace {

TEST(IntakeTopics, map_topics_to_item_types) {
  const auto topics = parse_intake_topics("payments.v1=PAYMENT, orders=ORDER=1");
  ASSERT_TRUE(topics);
  ASSERT_EQ(topics->size(), 2U);
  EXPECT_EQ(topics->at("payments.v1").str(), "PAYMENT");
  EXPECT_EQ(topics->at("orders").str(), "ORDER=1");
}

TEST(IntakeTopics, refuse_what_is_no_such_list) {
  for (const char* text :
       {"", "payments", "=PAYMENT", "payments=", "a=A,", "a=A,a=B", "a/b=A", "..=A", "a=A,,b=B"}) {
    EXPECT_FALSE(parse_intake_topics(text)) << text;
  }
}

}  // namespace
}  // namespace penstock::daemon
