#include "daemon/config/keys.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "daemon/config/load.h"

namespace penstock::daemon {
namespace {

TEST(Keys, have_each_name_once_in_every_spelling) {
  std::set<std::string_view> paths;
  std::set<std::string> environment;
  std::set<std::string_view> flags;
  for (const Key& key : keys()) {
    EXPECT_TRUE(paths.insert(key.path()).second) << key.path();
    EXPECT_TRUE(environment.insert(environment_name(key.path())).second) << key.path();
    if (!key.flag.empty()) {
      EXPECT_TRUE(flags.insert(key.flag).second) << key.flag;
    }
    EXPECT_EQ(find_key(key.path()), &key);
    EXPECT_EQ(find_key_by_environment_name(environment_name(key.path())), &key);
  }
}

TEST(Keys, are_kebab_case_and_say_what_they_mean) {
  for (const Key& key : keys()) {
    EXPECT_EQ(key.path().find_first_not_of("abcdefghijklmnopqrstuvwxyz-."), key.path().npos)
        << key.path();
    EXPECT_TRUE(key.field.help.ends_with('.')) << key.path();
    ASSERT_NE(key.field.set, nullptr) << key.path();
  }
}

TEST(Keys, have_defaults_that_are_allowed_and_written_as_they_are_read) {
  for (const Key& key : keys()) {
    const FieldValue fallback = key.default_value();
    if (is_empty(fallback)) continue;
    const Result<FieldValue> value = key.parse(key.format(fallback));
    ASSERT_TRUE(value) << key.path();
    EXPECT_EQ(*value, fallback) << key.path();
  }
}

// A number without a range would take anything; a path without one is one line of text.
TEST(Keys, have_a_range_where_they_are_numbers) {
  for (const Key& key : keys()) {
    if (key.field.kind != FieldKind::integer) continue;
    EXPECT_GE(key.field.max, key.field.min) << key.path();
    EXPECT_NE(key.field.max, 0) << key.path();
  }
}

TEST(Keys, give_the_http_server_its_own_defaults) {
  const auto loaded = load_config({});
  ASSERT_TRUE(loaded);
  const front::HttpLimits want;
  const front::HttpLimits& have = loaded->config.http.limits;
  EXPECT_EQ(have.header_bytes, want.header_bytes);
  EXPECT_EQ(have.body_bytes, want.body_bytes);
  EXPECT_EQ(have.batch_body_bytes, want.batch_body_bytes);
  EXPECT_EQ(have.item_body_bytes, want.item_body_bytes);
  EXPECT_EQ(have.header_timeout, want.header_timeout);
  EXPECT_EQ(have.idle_timeout, want.idle_timeout);
  EXPECT_EQ(have.body_grace, want.body_grace);
  EXPECT_EQ(have.body_bytes_per_second, want.body_bytes_per_second);
  EXPECT_EQ(have.connections, want.connections);
  EXPECT_EQ(have.shutdown_timeout, want.shutdown_timeout);
}

TEST(Keys, know_their_sections) {
  EXPECT_NE(first_key_below("http"), nullptr);
  EXPECT_NE(first_key_below("http.tls"), nullptr);
  EXPECT_NE(first_key_below("auth"), nullptr);
  EXPECT_EQ(first_key_below("data-dir"), nullptr);
  EXPECT_EQ(first_key_below("http.listen"), nullptr);
  EXPECT_EQ(first_key_below("htt"), nullptr);
}

TEST(Keys, of_features_that_do_not_exist_yet_are_unknown) {
  for (const char* later : {"opensearch"}) {
    EXPECT_EQ(first_key_below(later), nullptr) << later;
  }
}

// A person who adds a key gets the new table from `penstock check-config --print-reference`.
TEST(Keys, stand_in_the_configuration_reference_exactly) {
  std::ifstream file("docs/configuration.md");
  ASSERT_TRUE(file) << "run from the top of the repository";
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string begin = "<!-- reference: begin -->\n";
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find("<!-- reference: end -->");
  ASSERT_NE(from, text.npos);
  ASSERT_NE(to, text.npos);
  EXPECT_EQ(text.substr(from + begin.size(), to - from - begin.size()), reference_markdown());
}

}  // namespace
}  // namespace penstock::daemon
