// For tests of encodings: what to put into records, and what every decoder promises.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/rng.h"

namespace penstock::store::embedded {

inline std::string random_id(Rng& rng) {
  std::string id;
  const auto length = rng.between(1, static_cast<std::int64_t>(kIdBytesMax));
  for (std::int64_t i = 0; i < length; ++i) id.push_back(static_cast<char>(rng.between('!', '~')));
  return id;
}

// Every cut, every changed byte and a byte too many: a value or `corrupt`, never anything else.
template <class Decode>
void expect_total(const std::string& good, const Decode& decode) {
  ASSERT_TRUE(decode(good));
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto cut = decode(good.substr(0, size));
    ASSERT_FALSE(cut) << "cut to " << size << " of " << good.size();
    EXPECT_EQ(cut.error().kind, ErrorKind::corrupt);
  }
  const auto longer = decode(good + 'x');
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().kind, ErrorKind::corrupt);
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = byte;
      if (const auto changed = decode(bad); !changed) {
        EXPECT_EQ(changed.error().kind, ErrorKind::corrupt);
        EXPECT_FALSE(changed.error().what.empty());
      }
    }
  }
}

}  // namespace penstock::store::embedded
