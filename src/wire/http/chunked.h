// Takes the chunked coding off a body, in place. Sans-io: a state per byte, so the outcome does not
// depend on where the input was cut and nothing but data is ever kept. Strict: sizes are bare hex,
// lines end in CRLF; extensions and trailers are read past.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::wire {

class ChunkDecoder {
 public:
  enum class Status : std::uint8_t { need_more, done, malformed, too_large };

  struct Progress {
    Status status;
    std::size_t read;     // bytes of the input used; all of them unless done or failed
    std::size_t written;  // bytes of data put at `out`
  };

  // Reads [in, in + size) and moves data to `out`, which is `in` or before it. At most `room` bytes
  // of data are taken; a chunk that would pass it is too_large as soon as its size is known.
  Progress decode(const char* in, std::size_t size, char* out, std::size_t room) noexcept;

 private:
  enum class State : std::uint8_t {
    size_first,
    size,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_first,
    trailer,
    trailer_lf,
    last_lf,
  };

  Status step(char c, std::size_t room) noexcept;
  Status begin_chunk(std::size_t room) noexcept;

  State state_ = State::size_first;
  std::uint64_t left_ = 0;      // of the chunk
  std::uint32_t overhead_ = 0;  // bytes of this size line, or of all trailers
};

}  // namespace penstock::wire
