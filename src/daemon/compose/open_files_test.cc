#include "daemon/compose/open_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::daemon {
namespace {

using testing::HasSubstr;

constexpr FileNeeds kUsual{.own = 60, .folder = true, .http = 10'000, .resp = 0};

TEST(OpenFiles, enough_lowers_nothing) {
  const auto shares = share_files(kUsual, kUsual.total());
  ASSERT_TRUE(shares);
  EXPECT_EQ(shares->http, 10'000U);
  EXPECT_EQ(shares->tables, 512U);
  EXPECT_EQ(shares->reserved + shares->http, kUsual.total());
}

TEST(OpenFiles, the_store_and_the_daemon_come_before_connections) {
  for (const std::uint64_t allowed : {256, 512, 1'024, 4'096, 10'000, 10'900}) {
    const auto shares = share_files(kUsual, allowed);
    ASSERT_TRUE(shares) << allowed;
    EXPECT_EQ(shares->reserved + shares->http, allowed);
    EXPECT_GE(shares->reserved, kUsual.own + shares->tables + shares->refusals);
    EXPECT_GE(shares->tables, 64U);
    EXPECT_GE(shares->http, 32U);
  }
  EXPECT_GE(share_files(kUsual, 1'024)->http, 400U);
}

TEST(OpenFiles, both_fronts_keep_their_part) {
  FileNeeds needs = kUsual;
  needs.http = 3'000;
  needs.resp = 9'000;
  const auto shares = share_files(needs, 4'096);
  ASSERT_TRUE(shares);
  EXPECT_NEAR(static_cast<double>(shares->resp), 3.0 * static_cast<double>(shares->http), 4);
  EXPECT_LE(shares->reserved + shares->http + shares->resp, 4'096U);
}

TEST(OpenFiles, too_few_are_refused_with_what_to_do) {
  const auto shares = share_files(kUsual, 100);
  ASSERT_FALSE(shares);
  EXPECT_THAT(shares.error().what, HasSubstr("100 open files are allowed"));
  EXPECT_THAT(shares.error().what, HasSubstr("LimitNOFILE=65536 in the service"));
}

TEST(OpenFiles, what_is_shared_out_goes_into_the_settings) {
  Config config;
  config.http.limits.connections = 10'000;
  config.resp.address = "127.0.0.1";
  config.resp.limits.connections = 10'000;
  const auto shares = share_files(file_needs_of(config), 1'024);
  ASSERT_TRUE(shares);
  apply(*shares, config);
  EXPECT_EQ(config.http.limits.connections, shares->http);
  EXPECT_EQ(config.resp.limits.connections, shares->resp);
  EXPECT_EQ(config.embedded.tables_open, 256U);
  EXPECT_LT(config.http.limits.connections, 512U);
}

}  // namespace
}  // namespace penstock::daemon
