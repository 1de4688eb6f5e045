#include "tool/bench/answers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"

namespace penstock::tool::bench {
namespace {

struct Seen {
  std::vector<int> codes;
  std::vector<std::uint64_t> good;
  std::vector<std::string> problems;
  bool invalid = false;
  bool closes = false;  // the last one
  std::size_t left = 0;

  friend bool operator==(const Seen&, const Seen&) = default;
};

// Reads `pieces` as a connection would: what was not used comes again with the next piece behind.
Seen read(AnswerReader& reader, const std::vector<std::string>& pieces) {
  Seen seen;
  std::string kept;
  for (const std::string& piece : pieces) {
    kept += piece;
    while (!kept.empty()) {
      // A copy of exactly this size: whoever reads past its end is found out.
      std::vector<char> bytes(kept.begin(), kept.end());
      const Progress progress = reader.next(bytes);
      if (progress.status == Progress::Status::invalid) {
        seen.invalid = true;
        seen.problems.push_back(reader.problem());
        return seen;
      }
      kept.erase(0, progress.used);
      if (progress.status == Progress::Status::answer) {
        seen.codes.push_back(reader.code());
        seen.good.push_back(reader.good_entries());
        seen.problems.push_back(
            reader.code() == 404 || reader.code() == kRespError ? reader.problem() : "");
        seen.closes = reader.closes();
      } else if (progress.used == 0) {
        break;
      }
    }
  }
  seen.left = kept.size();
  return seen;
}

constexpr std::string_view kGood = "\"allowed\":true";

Seen read_http(const std::vector<std::string>& pieces, std::string_view good = kGood) {
  HttpAnswers reader(good);
  return read(reader, pieces);
}

std::string answers() {
  return "HTTP/1.1 200 OK\r\nContent-Type: x\r\ncontent-length: 33\r\n\r\n"
         "[{\"allowed\":true,\"allowed\":true}]"
         "HTTP/1.1 204 No Content\r\n\r\n"
         "HTTP/1.1 100 Continue\r\n\r\n"
         "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n"
         "5;x=y\r\nno su\r\n8\r\nch\r\nname\r\n0\r\nTrailer: a\r\n\r\n"
         "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
}

TEST(HttpAnswers, reads_one_after_another) {
  const Seen seen = read_http({answers()});
  ASSERT_EQ(seen.codes, (std::vector{200, 204, 404, 429}));
  EXPECT_EQ(seen.good, (std::vector<std::uint64_t>{2, 0, 0, 0}));
  EXPECT_EQ(seen.problems[2], "no such\r\nname");
  EXPECT_TRUE(seen.closes);
  EXPECT_FALSE(seen.invalid);
  EXPECT_EQ(seen.left, 0U);
}

TEST(HttpAnswers, sees_the_same_wherever_the_bytes_are_cut) {
  const std::string all = answers();
  const Seen whole = read_http({all});
  for (std::size_t i = 0; i <= all.size(); ++i) {
    for (std::size_t j = i; j <= all.size(); j += 7) {
      ASSERT_EQ(read_http({all.substr(0, i), all.substr(i, j - i), all.substr(j)}), whole)
          << "cut at " << i << " and " << j;
    }
  }
  std::vector<std::string> single;
  for (const char c : all) single.emplace_back(1, c);
  EXPECT_EQ(read_http(single), whole);
}

TEST(HttpAnswers, refuses_what_has_no_end_that_it_could_know) {
  for (const std::string bad :
       {"HTTP/1.1 200 OK\r\n\r\nbody", "HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 20x OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "220 smtp.example ESMTP\r\n\r\n"}) {
    const Seen seen = read_http({bad});
    EXPECT_TRUE(seen.invalid) << bad;
    EXPECT_FALSE(seen.problems.back().empty()) << bad;
  }
  EXPECT_TRUE(read_http({std::string(17 * 1024, 'x')}).invalid);
}

TEST(HttpAnswers, is_total) {
  const std::string base = answers();
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    Rng rng(seed);
    std::string bytes = base;
    for (std::uint64_t i = 0, n = 1 + rng.below(6); i < n; ++i) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng());
    }
    const std::size_t cut = rng.below(bytes.size());
    const Seen cut_seen = read_http({bytes.substr(0, cut), bytes.substr(cut)});
    ASSERT_EQ(cut_seen, read_http({bytes})) << "seed " << seed;
  }
}

TEST(PatternCounter, counts_overlaps_as_a_search_would) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    std::string pattern;
    std::string text;
    for (std::uint64_t i = 0, n = 1 + rng.below(5); i < n; ++i) pattern += "ab"[rng.below(2)];
    for (std::uint64_t i = 0; i < 60; ++i) text += "ab"[rng.below(2)];
    std::uint64_t expected = 0;
    for (std::size_t at = 0; (at = text.find(pattern, at)) != text.npos; ++at) ++expected;
    PatternCounter counter(pattern);
    const std::size_t cut = rng.below(text.size());
    counter.feed(text.substr(0, cut));
    counter.feed(text.substr(cut));
    ASSERT_EQ(counter.count(), expected) << pattern << " in " << text;
  }
}

Seen read_resp(const std::vector<std::string>& pieces, std::size_t hello = 0) {
  RespAnswers reader(hello);
  return read(reader, pieces);
}

TEST(RespAnswers, tells_decisions_from_errors_wherever_the_bytes_are_cut) {
  const std::string all =
      "*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n*5\r\n:1\r\n:16\r\n:0\r\n:3\r\n:30\r\n"
      "-ERR no\r\n+PONG\r\n";
  const Seen whole = read_resp({all});
  ASSERT_EQ(whole.codes, (std::vector<int>{kRespAllowed, kRespLimited, kRespError, kRespOther}));
  EXPECT_EQ(whole.problems[2], "ERR no");
  for (std::size_t i = 0; i <= all.size(); ++i) {
    ASSERT_EQ(read_resp({all.substr(0, i), all.substr(i)}), whole) << "cut at " << i;
  }
  EXPECT_TRUE(read_resp({"HTTP/1.1 400 Bad Request\r\n"}).invalid);
}

TEST(RespAnswers, passes_over_the_reply_to_the_password_unless_it_is_a_refusal) {
  const std::string one = "*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n";
  EXPECT_EQ(read_resp({"+OK\r\n" + one}, 1).codes, (std::vector<int>{kRespAllowed}));
  const Seen refused = read_resp({"-WRONGPASS no\r\n" + one}, 1);
  EXPECT_TRUE(refused.invalid);
  EXPECT_EQ(refused.problems, (std::vector<std::string>{"WRONGPASS no"}));
}

}  // namespace
}  // namespace penstock::tool::bench
