#include "front/guesses.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include <fmt/format.h>

#include "runtime/clocks.h"

namespace penstock::front {
namespace {

class GuessesTest : public testing::Test {
 protected:
  ~GuessesTest() override { ::close(log_fd_); }

  std::optional<Seconds> attempt(std::string_view address, SecretKind secret, Micros now,
                                 GuessFront front = GuessFront::http) {
    return guesses_.judge(
        {.front = front, .address = *wire::parse_ip_address(address), .secret = secret}, now);
  }
  void guess(std::string_view address, std::uint32_t times, Micros now) {
    for (std::uint32_t i = 0; i < times; ++i) attempt(address, SecretKind::wrong, now);
  }
  std::size_t lines(std::string_view event) const {
    std::string text(1 << 20, '\0');
    const ssize_t size = ::pread(log_fd_, text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(size));
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(event, at)) != text.npos; ++at) ++count;
    return count;
  }

  runtime::SystemClock clock_;
  int log_fd_ = ::memfd_create("log", MFD_CLOEXEC);
  Log log_{clock_, log_fd_, LogLevel::info, LogFormat::json};
  runtime::Metrics metrics_;
  Guesses guesses_{log_, metrics_};
};

TEST_F(GuessesTest, an_address_waits_after_ten_wrong_ones_until_the_minute_is_over) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(attempt("192.0.2.1", SecretKind::wrong, Seconds{100 + i})) << i;
  }
  EXPECT_EQ(attempt("192.0.2.1", SecretKind::wrong, Seconds{110}), Seconds{50});
  EXPECT_EQ(attempt("192.0.2.1", SecretKind::wrong, Micros(Seconds{159}) + Micros{1}), Seconds{1});
  EXPECT_FALSE(attempt("192.0.2.1", SecretKind::wrong, Seconds{160}));
  EXPECT_FALSE(attempt("192.0.2.2", SecretKind::wrong, Seconds{110})) << "another address";
}

TEST_F(GuessesTest, who_waits_learns_nothing_from_a_secret_that_is_right) {
  guess("192.0.2.1", 10, Seconds{0});
  EXPECT_EQ(attempt("192.0.2.1", SecretKind::admin_token, Seconds{20}), Seconds{40});
  EXPECT_EQ(attempt("192.0.2.1", SecretKind::wrong, Seconds{20}), Seconds{40});
  EXPECT_FALSE(attempt("192.0.2.1", SecretKind::admin_token, Seconds{60}));
}

TEST_F(GuessesTest, a_secret_that_was_right_before_stays_usable_and_opens_no_other) {
  EXPECT_FALSE(attempt("192.0.2.1", SecretKind::api_token, Seconds{0}));
  guess("192.0.2.1", 100, Seconds{1});
  EXPECT_FALSE(attempt("192.0.2.1", SecretKind::api_token, Seconds{2}));
  EXPECT_TRUE(attempt("192.0.2.1", SecretKind::admin_token, Seconds{2}));
  EXPECT_TRUE(attempt("192.0.2.1", SecretKind::wrong, Seconds{2}));
}

TEST_F(GuessesTest, fronts_share_the_count_and_each_has_its_metric) {
  guess("192.0.2.1", 9, Seconds{0});
  EXPECT_FALSE(attempt("::ffff:192.0.2.1", SecretKind::wrong, Seconds{1}, GuessFront::resp));
  EXPECT_TRUE(attempt("192.0.2.1", SecretKind::resp_password, Seconds{1}, GuessFront::resp));
  const std::string text = metrics_.prometheus_text();
  EXPECT_NE(text.find("penstock_auth_failures_total{front=\"http\"} 9\n"), text.npos) << text;
  EXPECT_NE(text.find("penstock_auth_failures_total{front=\"resp\"} 1\n"), text.npos) << text;
}

TEST_F(GuessesTest, a_customer_of_ipv6_is_one_address) {
  for (int i = 0; i < 10; ++i) guess(fmt::format("2001:db8:0:1::{:x}", i), 1, Seconds{0});
  EXPECT_TRUE(attempt("2001:db8:0:1:ffff::1", SecretKind::wrong, Seconds{1}));
  EXPECT_FALSE(attempt("2001:db8:0:2::1", SecretKind::wrong, Seconds{1}));
}

TEST_F(GuessesTest, many_addresses_push_out_old_ones_only) {
  for (std::size_t i = 0; i < 4 * Guesses::kAddresses; ++i) {
    const Micros now{static_cast<std::int64_t>(i)};
    guess(fmt::format("10.0.{}.{}", i / 256, i % 256), 1, now);
    if (i % 400 == 0) guess("192.0.2.1", 1, now);
  }
  EXPECT_TRUE(attempt("192.0.2.1", SecretKind::wrong, Seconds{2}));
  EXPECT_FALSE(attempt("10.0.0.0", SecretKind::wrong, Seconds{2}));
}

TEST_F(GuessesTest, logs_two_lines_a_minute_for_an_address_and_sixty_for_all) {
  guess("192.0.2.1", 5'000, Seconds{0});
  EXPECT_EQ(lines("auth.failed"), 1U);
  EXPECT_EQ(lines("auth.slowed"), 1U);
  EXPECT_EQ(lines("\"peer\":\"192.0.2.1\""), 2U);
  guess("192.0.2.1", 1, Seconds{60});
  EXPECT_EQ(lines("\"failures\":4991"), 1U) << "those that were not told yet";
  for (int i = 0; i < 200; ++i) guess(fmt::format("198.51.100.{}", i), 1, Seconds{61});
  EXPECT_EQ(lines("auth."), 2U + 60U);
}

}  // namespace
}  // namespace penstock::front
