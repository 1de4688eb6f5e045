#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string_view>

namespace penstock {
namespace {

constexpr ErrorKind kAllKinds[] = {
    ErrorKind::invalid,     ErrorKind::not_found, ErrorKind::conflict,
    ErrorKind::limited,     ErrorKind::exhausted, ErrorKind::overloaded,
    ErrorKind::unavailable, ErrorKind::timeout,   ErrorKind::corrupt,
};

TEST(ErrorKind, has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (const ErrorKind kind : kAllKinds) names.insert(to_string(kind));
  EXPECT_EQ(names.size(), std::size(kAllKinds));
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(to_string(ErrorKind::not_found), "not_found");
}

TEST(Error, is_retryable_when_time_alone_may_cure_it) {
  const std::set<ErrorKind> curable = {ErrorKind::limited, ErrorKind::exhausted,
                                       ErrorKind::overloaded, ErrorKind::unavailable,
                                       ErrorKind::timeout};
  for (const ErrorKind kind : kAllKinds) {
    EXPECT_EQ((Error{.kind = kind, .what = ""}.retryable()), curable.contains(kind))
        << to_string(kind);
  }
}

TEST(Result, carries_a_value_or_the_reason) {
  const auto half = [](int number) -> Result<int> {
    if (number % 2 != 0) return fail(ErrorKind::conflict, "odd");
    return number / 2;
  };
  EXPECT_EQ(half(8), 4);
  const Result<int> odd = half(7);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().kind, ErrorKind::conflict);
  EXPECT_EQ(odd.error().what, "odd");
  EXPECT_EQ(odd.error().field, "");
  EXPECT_EQ(odd.error().retry_after, Millis::zero());
}

Result<std::unique_ptr<int>> positive(int number) {
  if (number <= 0) return invalid_field("number", "must be positive");
  return std::make_unique<int>(number);
}

Result<void> odd(int number) {
  if (number % 2 == 0) return fail(ErrorKind::conflict, "even");
  return {};
}

Result<int> sum(int a, int b, int& calls) {
  const std::unique_ptr<int> first = PENSTOCK_TRY(positive(a));
  ++calls;
  PENSTOCK_TRY(odd(b));
  ++calls;
  return *first + b;
}

TEST(Try, gives_the_value_and_goes_on) {
  int calls = 0;
  EXPECT_EQ(sum(1, 3, calls), 4);
  EXPECT_EQ(calls, 2);
}

TEST(Try, returns_the_first_error_at_once) {
  int calls = 0;
  EXPECT_EQ(sum(0, 3, calls).error().field, "number");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(sum(1, 2, calls).error().what, "even");
  EXPECT_EQ(calls, 1);
}

TEST(Result, names_the_field_at_fault_in_both_places) {
  const Result<void> result = invalid_field("maxDelay", "must not be negative");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::invalid);
  EXPECT_EQ(result.error().field, "maxDelay");
  EXPECT_EQ(result.error().what, "maxDelay: must not be negative");
}

TEST(Try, may_leave_a_value_unused) {
  const auto check = [](int number) -> Result<void> {
    PENSTOCK_TRY(positive(number));
    return {};
  };
  EXPECT_TRUE(check(1));
  EXPECT_EQ(check(0).error().field, "number");
}

}  // namespace
}  // namespace penstock
