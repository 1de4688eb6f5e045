#include "tool/top/top_feed.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace penstock::tool {

namespace {

using Seen = std::vector<std::pair<std::string, std::string>>;

Seen events_in(const std::vector<std::string>& pieces) {
  EventReader reader;
  Seen seen;
  for (const std::string& piece : pieces) {
    EXPECT_TRUE(reader.feed(piece, [&](std::string_view name, std::string_view data) {
      seen.emplace_back(name, data);
    }));
  }
  return seen;
}

TEST(EventReader, gives_events_with_their_data_and_passes_over_the_rest) {
  const std::string text =
      "retry: 2000\nevent: history\ndata: {}\n\n: comment\n\nevent:sample\ndata:a\ndata: b\n\n"
      "data: plain\n\nevent: half";
  const Seen whole = events_in({text});
  EXPECT_EQ(whole, (Seen{{"history", "{}"}, {"sample", "a\nb"}, {"message", "plain"}}));
  for (std::size_t i = 0; i <= text.size(); ++i) {
    ASSERT_EQ(events_in({text.substr(0, i), text.substr(i)}), whole) << "cut at " << i;
  }
}

TEST(EventReader, gives_up_on_an_event_without_end) {
  EventReader reader;
  const std::string piece(1024 * 1024, 'x');
  bool fits = true;
  for (int i = 0; i < 9 && fits; ++i) fits = reader.feed(piece, [](auto, auto) { FAIL(); });
  EXPECT_FALSE(fits);
  int seen = 0;
  EXPECT_TRUE(reader.feed("data: x\n\n", [&](auto, auto) { ++seen; }));
  EXPECT_EQ(seen, 1);
}

}  // namespace

}  // namespace penstock::tool
