#include "tool/demo/bookings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tool/demo/test_instants.h"

namespace penstock::tool {

namespace {

constexpr Micros kSpan = Seconds{1};

TEST(Arrivals, the_first_stands_alone) { EXPECT_EQ(Arrivals(kSpan).most_with(at(0)), 1U); }

TEST(Arrivals, counts_a_sliding_span_and_not_a_calendar_second) {
  Arrivals arrivals(kSpan);
  for (int i = 0; i < 5; ++i) arrivals.add(at(990));
  EXPECT_EQ(arrivals.most_with(at(1'010)), 6U);
  EXPECT_EQ(arrivals.most_with(at(1'989)), 6U);
  EXPECT_EQ(arrivals.most_with(at(1'990)), 1U) << "a span later nothing is shared";
}

TEST(Arrivals, one_told_late_counts_where_it_belongs) {
  Arrivals arrivals(kSpan);
  arrivals.add(at(0));
  arrivals.add(at(900));
  arrivals.add(at(1'800));
  EXPECT_EQ(arrivals.most_with(at(890)), 3U) << "890, 900 and 1800, or 0, 890 and 900";
}

TEST(Arrivals, a_clock_set_back_starts_anew) {
  Arrivals arrivals(kSpan);
  for (int i = 0; i < 5; ++i) arrivals.add(at(3'600'000));
  arrivals.add(at(0));
  EXPECT_EQ(arrivals.most_with(at(1)), 2U);
}

TEST(Arrivals, says_the_same_as_counting_by_hand) {
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    Arrivals arrivals(kSpan);
    std::vector<Instant> all;
    std::int64_t now = 0;
    for (int i = 0; i < 200; ++i) {
      now += rng.between(0, 40);
      const Instant when = at(now - rng.between(0, 20));
      std::vector<Instant> with = all;
      with.push_back(when);
      std::ranges::sort(with);
      std::size_t most = 0;
      for (const Instant end : with) {
        if (end < when || end >= when + kSpan) continue;
        most = std::max(most, static_cast<std::size_t>(std::ranges::count_if(
                                  with, [&](Instant t) { return t > end - kSpan && t <= end; })));
      }
      ASSERT_EQ(arrivals.most_with(when), most) << round << " " << i;
      arrivals.add(when);
      all.push_back(when);
    }
  }
}

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
