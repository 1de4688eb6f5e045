// Names for requests. A client's own is taken when it can stand in a header, a log and a JSON body.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/rng.h"

namespace penstock::wire {

inline constexpr std::size_t kRequestIdBytesMax = 64;

// 1 to 64 printable ASCII characters.
constexpr bool is_request_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kRequestIdBytesMax &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

// Makes ids that differ within the process, and between processes as far as the seeds do: the mix
// is a bijection, so a counter never gives one twice. One thread; each has its own range of the
// counter.
class RequestIds {
 public:
  RequestIds(std::uint64_t process_seed, std::uint32_t thread) noexcept
      : seed_(process_seed), counter_(std::uint64_t{thread} << 40) {}

  // 13 characters: 64 bits at 5 a letter, and short enough for a string without the heap.
  void make(std::string& out) {
    static constexpr std::string_view kLetters =
        "0123456789abcdefghjkmnpqrstvwxyz";  // no i, l, o, u
    std::uint64_t bits = mix64(seed_ + counter_++);
    out.resize(13);
    for (char& c : out) {
      c = kLetters[bits & 31];
      bits >>= 5;
    }
  }

 private:
  const std::uint64_t seed_;
  std::uint64_t counter_;
};

}  // namespace penstock::wire
