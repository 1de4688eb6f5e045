#include "tool/demo/bookings.h"

#include <gtest/gtest.h>

#include <string>

#include "tool/demo/test_instants.h"

namespace penstock::tool {
namespace {

TEST(Bookings, books_a_key_once_and_counts_its_repeats) {
  Bookings bookings({});
  const Booking first = bookings.receive("PAYMENT:a", at(0));
  EXPECT_EQ(first.outcome, BookingOutcome::booked);
  EXPECT_EQ(bookings.receive("PAYMENT:b", at(1)).number, first.number + 1);
  const Booking again = bookings.receive("PAYMENT:a", at(2));
  EXPECT_EQ(again.outcome, BookingOutcome::duplicate);
  EXPECT_EQ(again.number, first.number) << "the first answer";
  EXPECT_EQ(bookings.counts().booked, 2U);
  EXPECT_EQ(bookings.counts().duplicates, 1U);
  EXPECT_EQ(bookings.counts().requests, 3U);
}

TEST(Bookings, refuses_above_the_pace_of_any_sliding_second) {
  Bookings bookings({.max_per_second = 3});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bookings.receive(std::to_string(i), at(900)).outcome, BookingOutcome::booked);
  }
  EXPECT_EQ(bookings.receive("3", at(1'100)).outcome, BookingOutcome::refused);
  EXPECT_EQ(bookings.receive("3", at(1'889)).outcome, BookingOutcome::refused);
  EXPECT_EQ(bookings.receive("3", at(1'890)).outcome, BookingOutcome::booked)
      << "10 ms of tolerance; refused ones do not count";
  EXPECT_EQ(bookings.counts().refused, 2U);
  EXPECT_EQ(bookings.counts().busiest_second, 5U) << "refused ones show how far above it was";
}

TEST(Bookings, a_refused_key_is_not_booked) {
  Bookings bookings({.max_per_second = 1});
  bookings.receive("a", at(0));
  bookings.receive("b", at(1));
  EXPECT_EQ(bookings.receive("b", at(2'000)).outcome, BookingOutcome::booked);
}

TEST(Bookings, a_share_fails_and_is_not_booked) {
  Bookings bookings({.max_per_second = 1'000'000, .fail_percent = 25});
  for (int i = 0; i < 4'000; ++i) bookings.receive(std::to_string(i), at(i));
  EXPECT_NEAR(static_cast<double>(bookings.counts().failed), 1'000, 150);
  EXPECT_EQ(bookings.counts().booked + bookings.counts().failed, 4'000U);
}

TEST(Bookings, a_lost_answer_is_a_booking_all_the_same) {
  Bookings bookings({.max_per_second = 1'000, .lose_percent = 100});
  EXPECT_TRUE(bookings.receive("a", at(0)).lost);
  EXPECT_EQ(bookings.counts().booked, 1U);
  EXPECT_EQ(bookings.receive("a", at(1)).outcome, BookingOutcome::duplicate);
}

TEST(Bookings, full_books_take_nothing_new) {
  Bookings bookings({.max_per_second = 1'000, .keys_max = 1});
  bookings.receive("a", at(0));
  EXPECT_EQ(bookings.receive("b", at(1)).outcome, BookingOutcome::full);
  EXPECT_EQ(bookings.receive("a", at(2)).outcome, BookingOutcome::duplicate);
}

}  // namespace
}  // namespace penstock::tool
