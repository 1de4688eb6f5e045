#include "wire/http/chunked.h"

#include <algorithm>
#include <cstring>

#include "wire/percent.h"

namespace penstock::wire {
namespace {

// A size is at most 16 hex digits; extensions are nearly never used, and signatures in them
// (aws-chunked) need about 90 bytes.
constexpr std::uint32_t kSizeLineBytesMax = 256;
constexpr std::uint32_t kSizeDigitsMax = 16;
constexpr std::uint32_t kTrailerBytesMax = 4 * 1024;

bool is_text(char c) noexcept {
  return static_cast<unsigned char>(c) >= ' ' ? c != 0x7f : c == '\t';
}

}  // namespace

ChunkDecoder::Status ChunkDecoder::begin_chunk(std::size_t room) noexcept {
  overhead_ = 0;
  if (left_ == 0) {
    state_ = State::trailer_first;
  } else if (left_ > room) {
    return Status::too_large;
  } else {
    state_ = State::data;
  }
  return Status::need_more;
}

ChunkDecoder::Status ChunkDecoder::step(char c, std::size_t room) noexcept {
  const auto go = [this](bool allowed, State next) {
    state_ = next;
    return allowed ? Status::need_more : Status::malformed;
  };
  ++overhead_;
  switch (state_) {
    case State::size_first:
    case State::size: {
      const int digit = wire::hex_digit(c);
      if (digit >= 0) {
        left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
        return go(overhead_ <= kSizeDigitsMax, State::size);
      }
      if (state_ == State::size_first) return Status::malformed;
      return go(c == '\r' || c == ';', c == '\r' ? State::size_lf : State::extension);
    }
    case State::extension:
      if (c == '\r') return go(true, State::size_lf);
      return go(is_text(c) && overhead_ <= kSizeLineBytesMax, State::extension);
    case State::size_lf:
      return c == '\n' ? begin_chunk(room) : Status::malformed;
    case State::data_cr:
      return go(c == '\r', State::data_lf);
    case State::data_lf:
      overhead_ = 0;
      return go(c == '\n', State::size_first);
    case State::trailer_first:
      if (c == '\r') return go(true, State::last_lf);
      return go(is_text(c) && overhead_ <= kTrailerBytesMax, State::trailer);
    case State::trailer:
      if (c == '\r') return go(true, State::trailer_lf);
      return go(is_text(c) && overhead_ <= kTrailerBytesMax, State::trailer);
    case State::trailer_lf:
      return go(c == '\n', State::trailer_first);
    case State::last_lf:
      return c == '\n' ? Status::done : Status::malformed;
    case State::data:
      break;
  }
  return Status::malformed;
}

ChunkDecoder::Progress ChunkDecoder::decode(const char* in, std::size_t size, char* out,
                                            std::size_t room) noexcept {
  std::size_t read = 0;
  std::size_t written = 0;
  while (read < size) {
    if (state_ == State::data) {
      const std::size_t take =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_, size - read));
      std::memmove(out + written, in + read, take);
      read += take;
      written += take;
      left_ -= take;
      if (left_ == 0) state_ = State::data_cr;
      continue;
    }
    const Status status = step(in[read++], room - written);
    if (status != Status::need_more) return {status, read, written};
  }
  return {Status::need_more, read, written};
}

}  // namespace penstock::wire
