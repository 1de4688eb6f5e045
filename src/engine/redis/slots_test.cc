#include "engine/redis/slots.h"

#include <gtest/gtest.h>

namespace penstock::store::redis {
namespace {

// The check value of CRC-16/XMODEM, and what `CLUSTER KEYSLOT` of Redis 7.0.15 says.
TEST(RedisSlot, is_what_redis_says) {
  EXPECT_EQ(crc16("123456789"), 0x31c3);
  EXPECT_EQ(crc16(""), 0);
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of("bar"), 5061);
  EXPECT_EQ(slot_of("hello"), 866);
  EXPECT_EQ(slot_of(""), 0);
}

TEST(RedisSlot, is_the_tags_when_there_is_one) {
  EXPECT_EQ(slot_of("{foo}"), slot_of("foo"));
  EXPECT_EQ(slot_of("penstock:{foo}:bar"), slot_of("foo"));
  EXPECT_EQ(slot_of("a{foo}{bar}"), slot_of("foo"));
  EXPECT_EQ(slot_of("a{{foo}}"), slot_of("{foo"));
  EXPECT_EQ(slot_of("a{}{foo}"), crc16("a{}{foo}") % kSlots) << "an empty tag is none";
  EXPECT_EQ(slot_of("a{foo"), crc16("a{foo") % kSlots);
  EXPECT_EQ(slot_of("a}foo{"), crc16("a}foo{") % kSlots);
}

std::optional<SlotMap> parsed(std::string_view bytes) {
  wire::RespReplyParser parser;
  EXPECT_EQ(parser.parse(bytes), wire::RespReplyParser::Status::reply);
  return SlotMap::parse(parser.values(), "asked");
}

TEST(RedisSlotMap, reads_what_cluster_slots_says) {
  const auto map = parsed(
      "*2\r\n"
      "*4\r\n:0\r\n:5460\r\n*4\r\n$9\r\n127.0.0.1\r\n:7001\r\n$2\r\nid\r\n*0\r\n"
      "*4\r\n$9\r\n127.0.0.1\r\n:7004\r\n$3\r\nid2\r\n*2\r\n$8\r\nhostname\r\n$1\r\nh\r\n"
      "*3\r\n:5461\r\n:16383\r\n*3\r\n$-1\r\n:7002\r\n$2\r\nid\r\n");
  ASSERT_TRUE(map);
  ASSERT_EQ(map->masters().size(), 2U);
  EXPECT_EQ(*map->owner(0), (Endpoint{"127.0.0.1", 7001}));
  EXPECT_EQ(*map->owner(5460), (Endpoint{"127.0.0.1", 7001}));
  EXPECT_EQ(*map->owner(5461), (Endpoint{"asked", 7002})) << "a host left out is the one asked";
}

TEST(RedisSlotMap, learns_single_slots_and_knows_what_it_does_not_know) {
  auto map = parsed("*1\r\n*3\r\n:7\r\n:7\r\n*2\r\n$1\r\nh\r\n:1\r\n");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->owner(8), nullptr);
  map->set(8, {"other", 2});
  EXPECT_EQ(*map->owner(8), (Endpoint{"other", 2}));
  EXPECT_EQ(map->masters().size(), 2U);
}

TEST(RedisSlotMap, refuses_replies_that_are_none) {
  for (const char* bad : {"*0\r\n", "+OK\r\n", "*1\r\n:1\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n",
                          "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n",
                          "*1\r\n*3\r\n:5\r\n:4\r\n*2\r\n$1\r\nh\r\n:1\r\n",
                          "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:0\r\n",
                          "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n$1\r\nh\r\n"}) {
    EXPECT_FALSE(parsed(bad)) << bad;
  }
}

}  // namespace
}  // namespace penstock::store::redis
