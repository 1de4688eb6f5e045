#include "store/quota/embedded/quota_encoding.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::store::embedded {
namespace {

constexpr Instant kMoment{Micros{1'748'779'200'123'456}};

// No record that is cut short, or longer, or of another format is taken for one.
template <class Decode>
void expect_strict(const std::string& value, Decode decode) {
  ASSERT_TRUE(decode(value));
  for (std::size_t size = 0; size < value.size(); ++size) {
    EXPECT_FALSE(decode(value.substr(0, size))) << size;
  }
  EXPECT_EQ(decode(value + "x").error().kind, ErrorKind::corrupt);
  std::string other = value;
  other[0] = static_cast<char>(other[0] + 1);
  EXPECT_FALSE(decode(other));
}

TEST(QuotaEncoding, a_quota_reads_back) {
  const QuotaRecord record{
      .quota = {.rule = {.rate_limit = core::kRateLimitMax, .window = core::kTimeWindowMax},
                .count = 7,
                .refreshed = kMoment},
      .minute = minute_of(kMoment),
      .sent = 3};
  const std::string value = encode_quota(record);
  const auto read = decode_quota(value);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->quota, record.quota);
  EXPECT_EQ(read->minute, record.minute);
  EXPECT_EQ(read->sent, record.sent);
  expect_strict(value, decode_quota);
  EXPECT_EQ(decode_quota_key(quota_key(UserId{101})), UserId{101});
  EXPECT_FALSE(decode_quota_key("\xff\xff\xff\xff"));
}

TEST(QuotaEncoding, a_claim_reads_back) {
  KeyClaimRecord record{.at = kMoment, .left = true, .digest = {}, .id = ItemId::trusted("m-1")};
  record.digest[3] = 9;
  const std::string value = encode_key_claim(record);
  const auto read = decode_key_claim(value);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at, record.at);
  EXPECT_TRUE(read->left);
  EXPECT_EQ(read->digest, record.digest);
  EXPECT_EQ(read->id, record.id);
  expect_strict(value, decode_key_claim);
  EXPECT_NE(key_claim_key(UserId{5}, "k"), send_key(UserId{5}, "k"));
}

TEST(QuotaEncoding, a_key_reads_back) {
  KeyRecord record{.at = kMoment, .digest = {}, .id = ItemId::trusted("m-1")};
  record.digest[3] = 9;
  const std::string value = encode_key(record);
  const auto read = decode_key(value);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at, record.at);
  EXPECT_EQ(read->digest, record.digest);
  EXPECT_EQ(read->id, record.id);
  expect_strict(value, decode_key);
  const auto place = decode_key_time_key(key_time_key(kMoment, UserId{5}, "k"));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->at, kMoment);
  EXPECT_EQ(place->user, UserId{5});
  EXPECT_EQ(place->key, "k");
}

TEST(QuotaEncoding, a_usage_reads_back) {
  const UsageCounts counts{.sent = 1, .limited = 2, .failed = 3};
  EXPECT_EQ(decode_usage(encode_usage(counts)), counts);
  expect_strict(encode_usage(counts), decode_usage);
  EXPECT_EQ(decode_limited(encode_limited(5)), 5);
  expect_strict(encode_limited(5), decode_limited);
  const auto by_user = decode_usage_key(usage_key(UserId{5}, kMoment));
  const auto by_time = decode_usage_time_key(usage_time_key(kMoment, UserId{5}));
  ASSERT_TRUE(by_user && by_time);
  EXPECT_EQ(by_user->user, UserId{5});
  EXPECT_EQ(by_user->minute, kMoment);
  EXPECT_EQ(by_time->user, UserId{5});
  EXPECT_EQ(by_time->minute, kMoment);
  EXPECT_FALSE(decode_usage_key(usage_time_key(kMoment, UserId{5})));
}

TEST(QuotaEncoding, keys_sort_as_their_contents_do) {
  EXPECT_LT(quota_key(UserId{2}), quota_key(UserId{256}));
  EXPECT_LT(usage_key(UserId{1}, kMoment), usage_key(UserId{1}, kMoment + Seconds{60}));
  EXPECT_LT(usage_key(UserId{1}, kMoment + Seconds{60}), usage_key(UserId{2}, kMoment));
  EXPECT_LT(usage_time_key(kMoment, UserId{9}), usage_time_key(kMoment + Micros{1}));
  EXPECT_LT(key_time_key(kMoment, UserId{9}, "z"), key_time_key(kMoment + Micros{1}, UserId{}, ""));
}

}  // namespace
}  // namespace penstock::store::embedded
