#include "base/describe.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace penstock {

enum class Shade : std::uint8_t { dark, light };
template <>
struct Choices<Shade> {
  static constexpr std::array<std::string_view, 2> names = {"dark", "light"};
};

struct Lamp {
  std::int64_t watts = 60;
  std::optional<Shade> shade;
  friend bool operator==(const Lamp&, const Lamp&) = default;
};
template <>
struct Description<Lamp> {
  static constexpr std::string_view name = "Lamp";
  static constexpr std::array fields = {range(field<&Lamp::watts>("watts", "How bright."), 1, 100),
                                        field<&Lamp::shade>("shade", "What is around it.")};
};

struct Room {
  bool open = true;
  std::optional<std::int64_t> seats;
  Millis wait{5'000};
  Millis longest{10'000};
  PoolName pool;
  std::string door;
  std::vector<std::string> keys;
  Lamp lamp;
};
std::string door_problem(const FieldValue& value) {
  return std::get<std::string>(value).starts_with("d") ? "" : "must begin with d";
}
template <>
struct Description<Room> {
  static constexpr std::string_view name = "Room";
  static constexpr std::array fields = {
      field<&Room::open>("open", "Whether one may enter."),
      range(field<&Room::seats>("seats", "How many may sit."), 1, 50),
      range(field<&Room::wait>("waitMs", "Between two visitors."), 0, 60'000),
      range(field<&Room::longest>("longestMs", "The most that the wait becomes."), 0, 60'000),
      field<&Room::pool>("pool", "Whose room it is."),
      required(checked(range(field<&Room::door>("door", "Where it is."), 2, 8), door_problem)),
      secret(each(field<&Room::keys>("keys", "What opens it."), 2, 4, 6)),
      field<&Room::lamp>("lamp", "What lights it.")};
  static Result<void> rule(const Room& room) {
    if (room.longest >= room.wait) return {};
    return invalid_field("longestMs", "must not be less than waitMs");
  }
};

struct Street {
  Lamp lamp;
  Millis wait{0};
  bool waits = false;
};
Result<void> set_wait(void* record, FieldValue value) {
  static_cast<Street*>(record)->wait = Millis{std::get<std::int64_t>(value)};
  static_cast<Street*>(record)->waits = true;
  return {};
}
template <>
struct Description<Street> {
  static constexpr std::string_view name = "Street";
  static constexpr std::size_t count = 3;  // two of the lamp; one for the wait and whether
  static constexpr std::array fields = {
      range(field<&Street::lamp, &Lamp::watts>("watts", "How bright."), 1, 100),
      field<&Street::lamp, &Lamp::shade>("shade", "What is around it."),
      set_by(as(range(field<&Street::wait>("wait", "Between two cars."), 0, 60'000),
                FieldKind::duration),
             set_wait)};
};

namespace {

Room good() { return {.door = "d1"}; }
std::string refused(const Room& room) {
  const Result<void> checked = check_record(room);
  return checked ? "" : checked.error().what;
}

TEST(Describe, a_record_in_range_passes) { EXPECT_EQ(refused(good()), ""); }

TEST(Describe, each_kind_of_field_is_checked_and_named) {
  Room room = good();
  room.seats = 51;
  EXPECT_EQ(refused(room), "seats: must be from 1 to 50");
  room = good();
  room.wait = Millis{-1};
  EXPECT_EQ(refused(room), "waitMs: must be from 0 to 60000");
  room = good();
  room.door = "d23456789";
  EXPECT_EQ(refused(room), "door: must be a text of 2 to 8 characters");
  room.door = "x1";
  EXPECT_EQ(refused(room), "door: must begin with d");
  room.door = "";
  EXPECT_EQ(refused(room), "door: is required");
  room = good();
  room.keys = {"1234", "123"};
  EXPECT_EQ(refused(room), "keys: must be texts of 4 to 6 characters");
  room.keys = {"1234", "1234", "1234"};
  EXPECT_EQ(refused(room), "keys: must be at most 2");
}

TEST(Describe, a_record_inside_is_checked_by_its_path) {
  Room room = good();
  room.lamp.watts = 101;
  EXPECT_EQ(refused(room), "lamp.watts: must be from 1 to 100");
}

TEST(Describe, the_rule_of_a_record_is_asked_last) {
  Room room = good();
  room.wait = Millis{60'000};
  EXPECT_EQ(refused(room), "longestMs: must not be less than waitMs");
  room.seats = 0;
  EXPECT_EQ(refused(room), "seats: must be from 1 to 50");
}

TEST(Describe, values_go_in_and_come_out) {
  Room room = good();
  for (const FieldInfo& field : describe<Room>().fields) {
    if (field.kind == FieldKind::record) continue;
    Room copy;
    ASSERT_TRUE(field.set(&copy, field.get(&room))) << field.name;
    EXPECT_EQ(field.get(&copy), field.get(&room)) << field.name;
  }
  const FieldInfo& shade = describe<Lamp>().fields[1];
  ASSERT_TRUE(shade.set(&room.lamp, std::string("light")));
  EXPECT_EQ(room.lamp.shade, Shade::light);
  ASSERT_TRUE(shade.set(&room.lamp, FieldValue()));
  EXPECT_EQ(room.lamp.shade, std::nullopt);
  EXPECT_FALSE(describe<Room>().fields[4].set(&room, std::string("no spaces")));
}

TEST(Describe, a_member_of_a_member_stands_in_the_record_itself) {
  Street street;
  street.lamp.watts = 0;
  EXPECT_EQ(check_record(street).error().field, "watts");
  const FieldInfo& wait = describe<Street>().fields[2];
  street = {};
  ASSERT_TRUE(wait.set(&street, std::int64_t{7}));
  EXPECT_EQ(street.wait, Millis{7});
  EXPECT_TRUE(street.waits) << "set_by sets more than its member";
  street.wait = Millis{60'001};
  EXPECT_EQ(check_record(street).error().what, "wait: must be from PT0S to PT1M");
}

TEST(Describe, choices_have_names_both_ways) {
  EXPECT_EQ(choice_name(Shade::light), "light");
  EXPECT_EQ(choice_of<Shade>("dark"), Shade::dark);
  EXPECT_EQ(choice_of<Shade>("grey"), std::nullopt);
}

TEST(Describe, differences_are_named_by_their_path) {
  const Room before = good();
  Room after = good();
  EXPECT_TRUE(differences(before, after).empty());
  after.seats = 3;
  after.lamp.shade = Shade::dark;
  after.keys = {"1234"};
  EXPECT_EQ(differences(before, after), (std::vector<std::string>{"seats", "keys", "lamp.shade"}));
}

}  // namespace
}  // namespace penstock
