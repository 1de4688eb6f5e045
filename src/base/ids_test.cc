#include "base/ids.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <unordered_set>

namespace penstock {
namespace {

std::string problem_of(const std::string& text) {
  const Result<EventId> id = EventId::parse("eventId", text);
  if (id) return "accepted";
  EXPECT_EQ(id.error().kind, ErrorKind::invalid);
  EXPECT_EQ(id.error().field, "eventId");
  return id.error().what;
}

TEST(Id, accepts_1_to_128_printable_characters) {
  for (const std::string& text :
       {std::string("a"), std::string("pay/2025:00-1_~!%"), std::string(kIdBytesMax, 'x')}) {
    const Result<EventId> id = EventId::parse("eventId", text);
    ASSERT_TRUE(id) << text;
    EXPECT_EQ(id->str(), text);
    EXPECT_FALSE(id->empty());
  }
}

TEST(Id, judges_each_byte_by_the_printable_range) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = {'a', static_cast<char>(byte), 'b'};
    const bool printable = byte >= '!' && byte <= '~';
    EXPECT_EQ(problem_of(text),
              printable ? "accepted" : "eventId: must be printable ASCII without spaces")
        << byte;
  }
}

TEST(Id, refuses_empty_and_over_long_texts_and_names_the_field) {
  EXPECT_EQ(problem_of(""), "eventId: must not be empty");
  EXPECT_EQ(problem_of(std::string(kIdBytesMax + 1, 'x')),
            "eventId: must have at most 128 characters");
}

TEST(Id, is_a_type_of_its_own_per_kind) {
  EXPECT_FALSE((std::is_convertible_v<EventId, PoolName>));
  EXPECT_FALSE((std::is_convertible_v<std::string, EventId>));
}

TEST(Id, compares_and_hashes_by_text) {
  const EventId a = EventId::trusted("a");
  const EventId b = EventId::trusted("b");
  EXPECT_LT(a, b);
  EXPECT_EQ(a, *EventId::parse("eventId", "a"));
  EXPECT_TRUE(EventId{}.empty());
  const std::unordered_set<EventId> ids = {a, b, a};
  EXPECT_EQ(ids.size(), 2u);
}

}  // namespace
}  // namespace penstock
