#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/rng.h"
#include "core/gateway/message.h"
#include "core/gateway/quota.h"
#include "core/gateway/sms.h"

namespace penstock::core {
namespace {

std::string times(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Sms, counts_septets_of_the_basic_alphabet) {
  EXPECT_EQ(measure_sms("Hello"), (SmsSize{SmsEncoding::gsm7, 5, 1}));
  EXPECT_EQ(measure_sms(times("a", 160)), (SmsSize{SmsEncoding::gsm7, 160, 1}));
  EXPECT_EQ(measure_sms(times("a", 161)), (SmsSize{SmsEncoding::gsm7, 161, 2}));
  EXPECT_EQ(measure_sms(times("a", 306)), (SmsSize{SmsEncoding::gsm7, 306, 2}));
  EXPECT_EQ(measure_sms(times("a", 307)), (SmsSize{SmsEncoding::gsm7, 307, 3}));
  // The whole basic table.
  EXPECT_EQ(measure_sms("@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
                        "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"),
            (SmsSize{SmsEncoding::gsm7, 127, 1}));
}

TEST(Sms, an_escaped_character_is_two_septets_and_never_split) {
  EXPECT_EQ(measure_sms("€"), (SmsSize{SmsEncoding::gsm7, 2, 1}));
  EXPECT_EQ(measure_sms("\f^{}\\[~]|"), (SmsSize{SmsEncoding::gsm7, 18, 1}));
  EXPECT_EQ(measure_sms(times("€", 80)), (SmsSize{SmsEncoding::gsm7, 160, 1}));
  // 153 is odd: each part holds 76 of them.
  EXPECT_EQ(measure_sms(times("€", 152)), (SmsSize{SmsEncoding::gsm7, 304, 2}));
  EXPECT_EQ(measure_sms(times("€", 153)), (SmsSize{SmsEncoding::gsm7, 306, 3}));
}

TEST(Sms, anything_else_makes_the_whole_message_ucs2) {
  EXPECT_EQ(measure_sms("`"), (SmsSize{SmsEncoding::ucs2, 1, 1}));
  EXPECT_EQ(measure_sms("\t"), (SmsSize{SmsEncoding::ucs2, 1, 1}));
  EXPECT_EQ(measure_sms("ж"), (SmsSize{SmsEncoding::ucs2, 1, 1}));
  EXPECT_EQ(measure_sms(times("ж", 70)), (SmsSize{SmsEncoding::ucs2, 70, 1}));
  EXPECT_EQ(measure_sms(times("ж", 71)), (SmsSize{SmsEncoding::ucs2, 71, 2}));
  EXPECT_EQ(measure_sms(times("ж", 134)), (SmsSize{SmsEncoding::ucs2, 134, 2}));
  EXPECT_EQ(measure_sms(times("ж", 135)), (SmsSize{SmsEncoding::ucs2, 135, 3}));
  EXPECT_EQ(measure_sms("a€ж"), (SmsSize{SmsEncoding::ucs2, 3, 1}));
}

TEST(Sms, a_surrogate_pair_is_two_units_and_never_split) {
  EXPECT_EQ(measure_sms(times("😀", 35)), (SmsSize{SmsEncoding::ucs2, 70, 1}));
  // 67 is odd: each part holds 33 of them.
  EXPECT_EQ(measure_sms(times("😀", 66)), (SmsSize{SmsEncoding::ucs2, 132, 2}));
  EXPECT_EQ(measure_sms(times("😀", 67)), (SmsSize{SmsEncoding::ucs2, 134, 3}));
}

TEST(Sms, any_bytes_have_a_size) {
  EXPECT_EQ(measure_sms(""), (SmsSize{SmsEncoding::gsm7, 0, 1}));
  EXPECT_EQ(measure_sms("\xff\xc3"), (SmsSize{SmsEncoding::ucs2, 2, 1}));
  EXPECT_EQ(measure_sms("\xed\xa0\x80").encoding, SmsEncoding::ucs2);
  Rng rng(1);
  for (int i = 0; i < 1'000; ++i) {
    std::string text(rng.below(400), '\0');
    for (char& c : text) c = static_cast<char>(rng.below(256));
    const SmsSize size = measure_sms(text);
    EXPECT_GE(size.segments, 1);
    EXPECT_LE(size.units, 2 * static_cast<std::int64_t>(text.size()));
  }
}

constexpr Instant kNow{Seconds{1'700'000'000}};

TEST(Quota, admits_as_many_as_the_limit_and_says_when_there_is_more) {
  Quota quota = begin_quota({.rate_limit = 3, .window = Minutes{5}}, kNow);
  for (int i = 1; i <= 3; ++i) {
    const QuotaStep step = charge_quota(quota, 1, kNow + Seconds{i});
    ASSERT_EQ(step.verdict, QuotaVerdict::admitted);
    quota = step.next;
    EXPECT_EQ(quota.count, i);
    EXPECT_EQ(quota.refreshed, kNow);
  }
  const QuotaStep step = charge_quota(quota, 1, kNow + Seconds{10});
  EXPECT_EQ(step.verdict, QuotaVerdict::limited);
  EXPECT_EQ(step.next, quota);
  EXPECT_EQ(step.retry_after, Seconds{290});
}

TEST(Quota, begins_anew_at_the_very_end_of_its_window) {
  const Quota full{.rule = {.rate_limit = 3, .window = Minutes{5}}, .count = 3, .refreshed = kNow};
  EXPECT_EQ(charge_quota(full, 1, kNow + Minutes{5} - Micros{1}).verdict, QuotaVerdict::limited);
  const QuotaStep step = charge_quota(full, 1, kNow + Minutes{5});
  EXPECT_EQ(step.verdict, QuotaVerdict::admitted);
  EXPECT_EQ(step.next.count, 1);
  EXPECT_EQ(step.next.refreshed, kNow + Minutes{5});
}

// The clock was a day ahead when the window began.
TEST(Quota, a_window_that_began_in_the_future_ends_a_window_from_now) {
  const Quota ahead{.rule = {.rate_limit = 2, .window = Minutes{1}},
                    .count = 2,
                    .refreshed = kNow + std::chrono::days{1}};
  const QuotaStep limited = charge_quota(ahead, 1, kNow);
  EXPECT_EQ(limited.verdict, QuotaVerdict::limited);
  EXPECT_EQ(limited.retry_after, Minutes{1});
  EXPECT_EQ(limited.next.refreshed, kNow);
  EXPECT_EQ(limited.next.count, 2);
  EXPECT_EQ(charge_quota(limited.next, 1, kNow + Seconds{59}).retry_after, Seconds{1});
  EXPECT_EQ(charge_quota(limited.next, 1, kNow + Minutes{1}).verdict, QuotaVerdict::admitted);
  Quota half = ahead;
  half.count = 1;
  const QuotaStep admitted = charge_quota(half, 1, kNow);
  EXPECT_EQ(admitted.verdict, QuotaVerdict::admitted);
  EXPECT_EQ(admitted.next, (Quota{.rule = ahead.rule, .count = 2, .refreshed = kNow}));
}

TEST(Quota, counts_what_a_message_costs) {
  const Quota quota{.rule = {.rate_limit = 5, .window = Minutes{1}}, .count = 3, .refreshed = kNow};
  EXPECT_EQ(charge_quota(quota, 2, kNow).next.count, 5);
  EXPECT_EQ(charge_quota(quota, 3, kNow).verdict, QuotaVerdict::limited);
  EXPECT_EQ(charge_quota(quota, 6, kNow).verdict, QuotaVerdict::never);
  EXPECT_EQ(charge_quota(quota, 6, kNow + Minutes{1}).verdict, QuotaVerdict::never);
}

TEST(SmsText, writes_septets_with_the_escape_table) {
  const auto gsm = encode_sms("@$ A\u00e9_{\u20ac}");
  EXPECT_EQ(gsm.encoding, SmsEncoding::gsm7);
  ASSERT_EQ(gsm.parts.size(), 1U);
  EXPECT_EQ(gsm.parts.front(), std::string("\x00\x02 A\x05\x11\x1b\x28\x1b\x65\x1b\x29", 12));
  EXPECT_EQ(encode_sms("").parts, std::vector<std::string>{""});
}

TEST(SmsText, writes_utf_16_with_the_high_byte_first) {
  const auto ucs = encode_sms("\u0436\U0001F600");
  EXPECT_EQ(ucs.encoding, SmsEncoding::ucs2);
  EXPECT_EQ(ucs.parts, std::vector<std::string>{std::string("\x04\x36\xd8\x3d\xde\x00", 6)});
}

TEST(SmsText, has_the_parts_that_were_measured) {
  Rng rng(11);
  const std::string_view letters[] = {"a",  "[",      "\u00e9",     "\u20ac",
                                      "\n", "\u0436", "\U0001F600", "\xff"};
  for (int i = 0; i < 2'000; ++i) {
    std::string text;
    const std::uint64_t kinds = 1 + rng.below(std::size(letters));
    for (std::uint64_t left = rng.below(500); left > 0; --left) text += letters[rng.below(kinds)];
    const SmsSize size = measure_sms(text);
    const auto coded = encode_sms(text);
    ASSERT_EQ(coded.encoding, size.encoding);
    ASSERT_EQ(coded.parts.size(), static_cast<std::size_t>(size.segments));
    std::size_t bytes = 0;
    const std::size_t width = size.encoding == SmsEncoding::gsm7 ? 1 : 2;
    for (const std::string& part : coded.parts) {
      bytes += part.size();
      const bool alone = coded.parts.size() == 1;
      const auto most =
          static_cast<std::size_t>(width == 1 ? (alone ? kSeptetsAlone : kSeptetsJoined)
                                              : (alone ? kCodeUnitsAlone : kCodeUnitsJoined));
      ASSERT_LE(part.size(), most * width);
      // Neither an escape nor the first half of a pair is cut off from what follows it.
      if (width == 1) {
        ASSERT_FALSE(part.ends_with('\x1b'));
      } else if (part.size() >= 2) {
        const auto last = static_cast<unsigned char>(part[part.size() - 2]);
        ASSERT_FALSE(last >= 0xD8 && last < 0xDC);
      }
    }
    ASSERT_EQ(bytes, static_cast<std::size_t>(size.units) * width);
  }
}

TEST(Quota, gives_back_only_in_the_window_of_the_charge) {
  const Quota quota{.rule = {.rate_limit = 5, .window = Minutes{1}}, .count = 3, .refreshed = kNow};
  EXPECT_EQ(give_back_quota(quota, 2, kNow).count, 1);
  EXPECT_EQ(give_back_quota(quota, 4, kNow).count, 0);
  EXPECT_EQ(give_back_quota(quota, 2, kNow - Minutes{1}).count, 3);
}

TEST(Quota, refuses_values_out_of_range_by_name) {
  EXPECT_EQ(check_user_id(-1).error().field, "userId");
  EXPECT_EQ(check_user_id(kUserIdMax + 1).error().field, "userId");
  EXPECT_EQ(check_user_id(0)->raw, 0);
  const auto field_of = [](std::int64_t rate_limit, Minutes window) {
    const Result<void> checked =
        check_record(QuotaRule{.rate_limit = rate_limit, .window = window});
    return checked ? std::string() : checked.error().field;
  };
  EXPECT_EQ(field_of(0, Minutes{1}), "rateLimit");
  EXPECT_EQ(field_of(1, Minutes{0}), "timeWindow");
  EXPECT_EQ(field_of(1, kTimeWindowMax + Minutes{1}), "timeWindow");
  EXPECT_EQ(field_of(kRateLimitMax, kTimeWindowMax), "");
}

TEST(MessageId, sorts_by_time_and_names_its_user) {
  std::string last;
  Rng rng(7);
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) {
    const UserId user{static_cast<std::int32_t>(rng.below(1U << 31))};
    const ItemId id = make_message_id(kNow + Millis{i}, user, rng(), 5);
    EXPECT_LT(last, id.str());
    EXPECT_EQ(user_of_message(id.str()), user);
    EXPECT_EQ(time_of_message(id.str()), kNow + Millis{i});
    EXPECT_TRUE(ItemId::parse("id", id.str()));
    EXPECT_TRUE(seen.insert(id.str()).second);
    last = id.str();
  }
}

TEST(MessageId, a_time_that_was_made_up_is_a_time) {
  EXPECT_EQ(time_of_message("00000000000000000000000000-5"), Instant{});
  EXPECT_LT(time_of_message("ZZZZZZZZZZ0000000000000000-5"), Instant::max());
}

TEST(MessageId, anything_else_names_nobody) {
  const std::string id = make_message_id(kNow, UserId{101}, 1, 2).str();
  EXPECT_TRUE(user_of_message(id));
  EXPECT_FALSE(user_of_message(""));
  EXPECT_FALSE(user_of_message("p-1"));
  EXPECT_FALSE(user_of_message(id.substr(0, 26)));
  EXPECT_FALSE(user_of_message(id.substr(0, 27)));
  EXPECT_FALSE(user_of_message(id + "x"));
  EXPECT_FALSE(user_of_message(id.substr(0, 27) + "-5"));
  EXPECT_FALSE(user_of_message(id.substr(0, 27) + "0101"));
  EXPECT_FALSE(user_of_message(id.substr(0, 27) + "2147483648"));
  EXPECT_FALSE(user_of_message("I" + id.substr(1)));
}

TEST(Message, phone_numbers_are_digits) {
  EXPECT_TRUE(is_phone_number("+4915112345678"));
  EXPECT_TRUE(is_phone_number("101"));
  EXPECT_TRUE(is_phone_number(std::string(20, '1')));
  for (const std::string_view text :
       {"", "+", "1 2", "+49-15", "++1", "12a", "111111111111111111111"}) {
    EXPECT_FALSE(is_phone_number(text)) << text;
  }
}

TEST(Message, blank_is_white_space_alone) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \t\n\r"));
  EXPECT_TRUE(is_blank(std::string_view("\0\x01 \x1b", 4)));
  EXPECT_FALSE(is_blank("\xc2\xa0")) << "a character of its own";
  EXPECT_FALSE(is_blank(" a "));
}

}  // namespace
}  // namespace penstock::core
