#include "wire/http/chunked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"

namespace penstock::wire {
namespace {

using Status = ChunkDecoder::Status;

struct Decoded {
  Status status;
  std::string data;
  std::size_t read;

  bool operator==(const Decoded&) const = default;
};

// Decodes in place, as the reader does, in pieces of the sizes that `cut` gives.
template <class Cut>
Decoded decode(std::string bytes, std::size_t room, Cut cut) {
  ChunkDecoder decoder;
  std::size_t read = 0;
  std::size_t written = 0;
  while (read < bytes.size()) {
    const std::size_t size = std::min<std::size_t>(cut(), bytes.size() - read);
    const auto progress =
        decoder.decode(bytes.data() + read, size, bytes.data() + written, room - written);
    read += progress.read;
    written += progress.written;
    if (progress.status != Status::need_more) {
      return {progress.status, bytes.substr(0, written), read};
    }
    EXPECT_EQ(progress.read, size);
  }
  return {Status::need_more, bytes.substr(0, written), read};
}

Decoded decode_whole(std::string_view bytes, std::size_t room = 1'000) {
  return decode(std::string(bytes), room, [&] { return bytes.size(); });
}

TEST(ChunkDecoder, takes_the_coding_off) {
  EXPECT_EQ(decode_whole("0\r\n\r\n"), (Decoded{Status::done, "", 5}));
  EXPECT_EQ(decode_whole("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nNEXT"),
            (Decoded{Status::done, "hello world", 26}));
  EXPECT_EQ(decode_whole("A\r\n0123456789\r\n000\r\n\r\n").data, "0123456789");
}

TEST(ChunkDecoder, reads_past_extensions_and_trailers) {
  EXPECT_EQ(decode_whole("2;a=b;c=\"d e\"\r\nhi\r\n0;x\r\nTrailer: 1\r\nOther: 2\r\n\r\nN"),
            (Decoded{Status::done, "hi", 48}));
}

TEST(ChunkDecoder, refuses_what_servers_disagree_about) {
  for (const std::string_view bytes : {"\r\n",
                                       "g\r\n",
                                       "-1\r\n",
                                       "+5\r\n",
                                       "0x5\r\n",
                                       " 5\r\n",
                                       "5 \r\n",
                                       "5\t;a\r\n",
                                       "5\n",
                                       "5\rx",
                                       "5\r\r\n",
                                       ";\r\n",
                                       "1\r\nab\r\n",
                                       "1\r\na\nb",
                                       "1\r\na\r\r",
                                       "0\r\n\rx",
                                       "0\r\n\n",
                                       "0\r\na\nb",
                                       "5;\n\r\n",
                                       "2;a\x01\r\n",
                                       "0\r\na:\x7f\r\n",
                                       "00000000000000005\r\n"}) {
    EXPECT_EQ(decode_whole(bytes).status, Status::malformed) << bytes;
  }
}

TEST(ChunkDecoder, refuses_a_chunk_that_passes_the_room_before_reading_it) {
  EXPECT_EQ(decode_whole("4\r\n", 3), (Decoded{Status::too_large, "", 3}));
  EXPECT_EQ(decode_whole("2\r\nab\r\n2\r\n", 3), (Decoded{Status::too_large, "ab", 10}));
  EXPECT_EQ(decode_whole("ffffffffffffffff\r\n", 3).status, Status::too_large);
  EXPECT_EQ(decode_whole("3\r\nabc\r\n0\r\n\r\n", 3).status, Status::done);
}

TEST(ChunkDecoder, bounds_what_is_not_data) {
  EXPECT_EQ(decode_whole("5;" + std::string(300, 'x')).status, Status::malformed);
  EXPECT_EQ(decode_whole("0\r\n" + std::string(5'000, 'x')).status, Status::malformed);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 2'000; ++i) trailers += "a:b\r\n";
  EXPECT_EQ(decode_whole(trailers).status, Status::malformed);
  // Many small chunks with an extension each are fine: only what one line has is bounded.
  std::string many;
  for (int i = 0; i < 500; ++i) many += "1;ext\r\nx\r\n";
  EXPECT_EQ(decode_whole(many + "0\r\n\r\n").data.size(), 500U);
}

TEST(ChunkDecoder, does_not_care_where_the_input_is_cut) {
  Rng rng(7);
  const std::string pieces[] = {"1\r\na\r\n", "3;x=y\r\nbcd\r\n",
                                "0\r\n",      "\r\n",
                                "T: 1\r\n",   "a\r\n0123456789\r\n",
                                "5",          "\r",
                                "\n",         "zz",
                                "ffff\r\n"};
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes;
    for (auto count = rng.below(8); count > 0; --count) bytes += pieces[rng.below(11)];
    const Decoded whole = decode(bytes, 12, [&] { return bytes.size(); });
    const Decoded cut = decode(bytes, 12, [&] { return 1 + rng.below(4); });
    EXPECT_EQ(whole, cut) << bytes;
  }
}

}  // namespace
}  // namespace penstock::wire
