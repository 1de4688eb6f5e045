// A setting is one entry of a description: these records are made up, and all that is shown here
// (JSON in and out, merges, secrets, the stored document, the schema) comes from their tables.
#include "wire/described.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace penstock {

struct Pigeon {
  std::string loft;
  std::string whistle;  // a secret
  std::int64_t birds = 2;
};
template <>
struct Description<Pigeon> {
  static constexpr std::string_view name = "Pigeon";
  static constexpr std::array fields = {
      place(required(range(field<&Pigeon::loft>("loft", "Where they fly to."), 1, 20))),
      secret(range(field<&Pigeon::whistle>("whistle", "Calls them."), 1, 20)),
      range(field<&Pigeon::birds>("birds", "In the air at once."), 1, 9)};
};

struct Fax {
  struct Line {
    std::int64_t number = 0;
  };
  Line line;
  std::vector<std::string> pins;
};
template <>
struct Description<Fax::Line> {
  static constexpr std::string_view name = "FaxLine";
  static constexpr std::array fields = {
      range(field<&Fax::Line::number>("number", "Who is called."), 0, 999)};
};
template <>
struct Description<Fax> {
  static constexpr std::string_view name = "Fax";
  static constexpr std::array fields = {
      place(field<&Fax::line>("line", "The line.")),
      secret(each(field<&Fax::pins>("pins", "Open the line."), 2, 1, 4))};
};

struct Office {
  bool open = true;
  std::optional<std::int64_t> clerks;
  Millis pause{500};
  OneOf post{.kind = "pigeon", .document = R"({"type":"pigeon","loft":"roof"})"};
};
template <>
struct Description<Office> {
  static constexpr std::string_view name = "Office";
  static constexpr std::array fields = {
      field<&Office::open>("open", "Whether one may enter."),
      range(field<&Office::clerks>("clerks", "Who serve; absent = nobody."), 1, 5),
      range(field<&Office::pause>("pauseMs", "Between two visitors."), 0, 1'000),
      field<&Office::post>("post", "How letters leave.")};
};

namespace wire {
namespace {

const KindInfo kPost[] = {{"pigeon", &describe<Pigeon>()}, {"fax", &describe<Fax>()}};

Result<Office> read(std::string_view json, Office office = {}, Unknown unknown = Unknown::refuse) {
  const Result<JsonDocument> document = parse_json(json);
  EXPECT_TRUE(document) << document.error().what;
  PENSTOCK_TRY(read_record(office, document->root(), {.unknown = unknown, .kinds = kPost}));
  return office;
}
std::string refused(std::string_view json) {
  const Result<Office> office = read(json);
  if (office) return "";
  EXPECT_FALSE(office.error().field.empty());
  return office.error().what;
}
std::string shown(const Office& office, Kinds kinds = kPost) {
  JsonWriter out;
  out.begin_object();
  write_members(out, office, Secrets::counted, kinds);
  out.end_object();
  return std::move(out).take();
}

TEST(Described, reads_what_is_sent_and_keeps_the_rest) {
  const Result<Office> made = read(R"({"clerks":3,"post":{"type":"pigeon","loft":"barn"}})");
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(shown(*made),
            R"({"open":true,"clerks":3,"pauseMs":500,)"
            R"("post":{"type":"pigeon","loft":"barn","hasWhistle":false,"birds":2}})");
  const Result<Office> merged = read(R"({"clerks":null,"pauseMs":null,"post":{"birds":7}})", *made);
  ASSERT_TRUE(merged) << merged.error().what;
  EXPECT_EQ(shown(*merged),
            R"({"open":true,"clerks":null,"pauseMs":500,)"
            R"("post":{"type":"pigeon","loft":"barn","hasWhistle":false,"birds":7}})");
}

TEST(Described, names_the_field_at_fault_and_what_is_allowed) {
  EXPECT_EQ(refused(R"({"clerks":6})"), "clerks: must be from 1 to 5");
  EXPECT_EQ(refused(R"({"clerks":1.5})"), "clerks: must be a whole number within 64 bits");
  EXPECT_EQ(refused(R"({"open":"yes"})"), "open: must be a boolean, not a string");
  EXPECT_EQ(refused(R"({"post":"pigeon"})"), "post: must be an object, not a string");
  EXPECT_EQ(refused(R"({"post":{"birds":0}})"), "post.birds: must be from 1 to 9");
  EXPECT_EQ(refused(R"({"post":{"type":"fax","line":{"number":1000}}})"),
            "post.line.number: must be from 0 to 999");
  EXPECT_EQ(refused(R"({"post":{"type":"pigeon","loft":""}})"), "post.loft: is required");
  EXPECT_EQ(refused(R"({"post":{"type":"fox"}})"),
            "post.type: is fox, and this build has pigeon, fax");
  EXPECT_EQ(refused(R"({"post":{"type":7}})"), "post.type: must be a string, not a number");
}

TEST(Described, names_the_nearest_of_an_unknown_field) {
  EXPECT_EQ(refused(R"({"clerk":2})"), "clerk: is unknown; did you mean clerks?");
  EXPECT_EQ(refused(R"({"post":{"bird":2}})"), "post.bird: is unknown; did you mean post.birds?");
  EXPECT_EQ(refused(R"({"post":{"type":"fax","birds":2}})").substr(0, 22),
            "post.birds: is unknown");
  EXPECT_TRUE(read(R"({"clerk":2})", {}, Unknown::ignore));
  EXPECT_EQ(refused(R"({"post":{"hasWhistle":true}})"), "") << "what was shown may come back";
}

TEST(Described, another_kind_starts_from_its_defaults) {
  const Result<Office> fax = read(R"({"post":{"type":"fax","line":{"number":7},"pins":["1"]}})");
  ASSERT_TRUE(fax) << fax.error().what;
  EXPECT_EQ(fax->post.kind, "fax");
  const Result<Office> back = read(R"({"post":{"type":"pigeon","loft":"x"}})", *fax);
  EXPECT_EQ(back->post.document, R"({"type":"pigeon","loft":"x","whistle":"","birds":2})");
}

TEST(Described, secrets_do_not_follow_to_another_place) {
  const Office fax = *read(R"({"post":{"type":"fax","line":{"number":7},"pins":["1"]}})");
  EXPECT_THAT(shown(fax), testing::HasSubstr(R"("pins":1)"));
  EXPECT_THAT(shown(*read(R"({"open":false})", fax)), testing::HasSubstr(R"("pins":1)"));
  EXPECT_THAT(shown(*read(R"({"post":{"line":{"number":7}}})", fax)),
              testing::HasSubstr(R"("pins":1)"));
  EXPECT_THAT(shown(*read(R"({"post":{"line":{"number":8}}})", fax)),
              testing::HasSubstr(R"("pins":0)"));
  EXPECT_THAT(shown(*read(R"({"post":{"line":{"number":8},"pins":["2"]}})", fax)),
              testing::HasSubstr(R"("pins":1)"));
  EXPECT_THAT(shown(*read(R"({"post":{"pins":null}})", fax)), testing::HasSubstr(R"("pins":0)"));
}

TEST(Described, a_document_brings_back_what_it_was_made_of) {
  const Office office = *read(R"({"clerks":1,"post":{"loft":"barn","whistle":"fiu"}})");
  const std::string document = to_document(office);
  EXPECT_THAT(document, testing::HasSubstr("fiu"));
  const Result<Office> back = from_document<Office>(document);
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_TRUE(differences(*back, office).empty());
  EXPECT_EQ(to_document(*back), document);
  for (const char* damaged : {"", "[]", "{\"clerks\":9}", "{\"open\":1}", "{\"post\":7}"}) {
    const Result<Office> none = from_document<Office>(damaged);
    ASSERT_FALSE(none) << damaged;
    EXPECT_EQ(none.error().kind, ErrorKind::corrupt);
  }
  EXPECT_TRUE(from_document<Office>(R"({"of a newer version":1})"));
}

TEST(Described, a_kind_that_is_not_here_is_kept_and_hidden) {
  const Kinds only_pigeons(kPost, 1);
  const Office fax = *read(R"({"post":{"type":"fax","pins":["1"]}})");
  const Result<Office> stored = from_document<Office>(to_document(fax));
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->post, fax.post);
  EXPECT_THAT(shown(*stored, only_pigeons), testing::EndsWith(R"("post":{"type":"fax"}})"));
}

TEST(Described, differences_are_named) {
  Office before;
  Office after;
  after.clerks = 2;
  after.post.kind = "fax";
  EXPECT_EQ(differences(before, after), (std::vector<std::string>{"clerks", "post"}));
}

TEST(Described, the_schema_has_each_field_with_its_bounds) {
  JsonWriter out;
  write_schema(out, describe<Office>(), kPost);
  const std::string schema = std::move(out).take();
  ASSERT_TRUE(parse_json(schema)) << schema;
  EXPECT_THAT(schema,
              testing::HasSubstr(R"("pauseMs":{"type":"integer","format":"int64","minimum":0,)"
                                 R"("maximum":1000,"description":"Between two visitors.",)"
                                 R"("default":500})"));
  EXPECT_THAT(schema, testing::HasSubstr(R"("clerks":{"type":["integer","null"])"));
  EXPECT_THAT(schema,
              testing::HasSubstr(R"("anyOf":[{"title":"pigeon","type":"object",)"
                                 R"("properties":{"type":{"type":"string","const":"pigeon"})"));
}

}  // namespace
}  // namespace wire
}  // namespace penstock
