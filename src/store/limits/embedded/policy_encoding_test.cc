#include "store/limits/embedded/policy_encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/policy/policy.h"

namespace penstock::store::embedded {
namespace {

core::Policy policy() {
  core::Policy made{.id = 7,
                    .version = 3,
                    .draft = core::default_policy_draft(),
                    .changed = from_epoch_millis(1'750'000'000'123) + Micros{4},
                    .deleted = true};
  made.draft.key = "user:*";
  made.draft.limit.type = core::LimitType::fixed_window;
  made.draft.shadow = true;
  made.draft.on_store_failure = core::OnStoreFailure::allow;
  return made;
}

TEST(PolicyEncoding, gives_back_what_was_put_in) {
  const core::Policy in = policy();
  const auto out = decode_policy(policy_record_key("user:*", 3), encode_policy(in));
  ASSERT_TRUE(out) << out.error().what;
  EXPECT_EQ(out->id, in.id);
  EXPECT_EQ(out->version, in.version);
  EXPECT_EQ(out->changed, in.changed);
  EXPECT_EQ(out->deleted, in.deleted);
  EXPECT_EQ(out->draft.key, in.draft.key);
  EXPECT_EQ(out->draft.limit, in.draft.limit);
  EXPECT_EQ(out->draft.refill_text, "10");
  EXPECT_TRUE(out->draft.shadow);
  EXPECT_EQ(out->draft.on_store_failure, core::OnStoreFailure::allow);
  EXPECT_EQ(decode_revision(encode_revision(UINT64_MAX)), UINT64_MAX);
}

TEST(PolicyEncoding, sorts_keys_by_text_and_versions_newest_first) {
  std::vector<std::string> keys{policy_record_key("a", 2), policy_record_key("a", 1),
                                policy_record_key("a!", 9), policy_record_key("aa", 1),
                                policy_record_key("ü", 1)};
  EXPECT_TRUE(std::ranges::is_sorted(keys));
}

TEST(PolicyEncoding, is_total) {
  const std::string key = policy_record_key("user:*", 3);
  const std::string good = encode_policy(policy());
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto cut = decode_policy(key, good.substr(0, size));
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().kind, ErrorKind::corrupt);
  }
  EXPECT_FALSE(decode_policy(key, good + 'x'));
  for (std::size_t size = 0; size < key.size(); ++size) {
    EXPECT_FALSE(decode_policy(key.substr(0, size), good)) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = byte;
      const auto out = decode_policy(key, bad);
      if (!out) {
        EXPECT_EQ(out.error().kind, ErrorKind::corrupt);
      }
    }
  }
  EXPECT_FALSE(decode_revision("\x01"));
}

}  // namespace
}  // namespace penstock::store::embedded
