#include "tool/import/import_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace penstock::tool {
namespace {

using testing::HasSubstr;

class ImportStateTest : public testing::Test {
 protected:
  ImportStateTest() {
    std::string folder = testing::TempDir() + "import_state_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
    write("payments.csv", "a\nb\n");
  }
  ~ImportStateTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  StateFile file(const std::string& url = "http://d") const {
    return {folder_ / "state", subject_of(folder_ / "payments.csv", url).value()};
  }
  static ImportTally tally(std::uint64_t line) {
    ImportTally tally{.read = 99,
                      .accepted = 4,
                      .known = 3,
                      .held = 2,
                      .rejected = 2,
                      .failed = 1,
                      .retries = 6,
                      .through_line = line};
    tally.count_reason("400 \"x\"");
    return tally;
  }
  static Result<std::uint64_t> no_rejects() { return std::uint64_t{7}; }

  std::filesystem::path folder_;
};

TEST_F(ImportStateTest, comes_back_as_it_was) {
  StateFile written = file();
  ASSERT_TRUE(written.note(tally(13), no_rejects));
  ASSERT_TRUE(written.save());
  const auto state = file().load().value();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->tally.through_line, 13U);
  EXPECT_EQ(state->tally.accepted, 4U);
  EXPECT_EQ(state->tally.known, 3U);
  EXPECT_EQ(state->tally.held, 2U);
  EXPECT_EQ(state->tally.rejected, 2U);
  EXPECT_EQ(state->tally.failed, 1U);
  EXPECT_EQ(state->tally.retries, 6U);
  EXPECT_EQ(state->tally.reasons.at("400 \"x\""), 1U);
  EXPECT_EQ(state->tally.read, 12U) << "what was read and not answered is read again";
  EXPECT_EQ(state->rejects_bytes, 7U);
}

TEST_F(ImportStateTest, is_not_there_before_anything_was_answered) {
  StateFile nothing = file();
  ASSERT_TRUE(nothing.note(tally(0), no_rejects));
  ASSERT_TRUE(nothing.save());
  EXPECT_FALSE(file().load().value());
}

TEST_F(ImportStateTest, of_another_file_or_daemon_is_refused) {
  StateFile written = file();
  ASSERT_TRUE(written.note(tally(13), no_rejects));
  ASSERT_TRUE(written.save());
  EXPECT_THAT(file("http://other").load().error().what, HasSubstr("another daemon; remove it"));
  write("payments.csv", "a\nb\nc\n");
  EXPECT_THAT(file().load().error().what, HasSubstr("a file that was different; remove it"));
}

TEST_F(ImportStateTest, that_is_broken_is_refused_and_not_believed) {
  for (const char* text : {"", "{", "[]", "{}", R"({"version":2})", R"({"version":1,"file":3})"}) {
    write("state", text);
    EXPECT_THAT(file().load().error().what, HasSubstr("remove it")) << text;
  }
}

TEST_F(ImportStateTest, goes_away_when_the_import_is_complete) {
  StateFile written = file();
  ASSERT_TRUE(written.note(tally(13), no_rejects));
  ASSERT_TRUE(written.save());
  written.remove();
  EXPECT_FALSE(file().load().value());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state.new"));
}

TEST_F(ImportStateTest, is_for_files_only) {
  EXPECT_FALSE(subject_of("/dev/null", "http://d"));
  EXPECT_FALSE(subject_of(folder_, "http://d"));
}

}  // namespace
}  // namespace penstock::tool
