#include "wire/http/request_reader.h"

#include <algorithm>

#include "base/check.h"

namespace penstock::wire {

void RequestReader::feed(std::span<char> bytes) {
  if (size_ == 0) {
    data_ = bytes.data();
    size_ = bytes.size();
    in_own_ = false;
    return;
  }
  // What is kept is at the end of own_ (see park), so it grows without moving.
  PENSTOCK_CHECK(in_own_ && data_ + size_ == own_.data() + own_.size());
  const std::size_t before = own_.size() - size_;
  own_.append(bytes.data(), bytes.size());
  data_ = own_.data() + before;
  size_ += bytes.size();
}

RequestReader::Step RequestReader::refuse(Refusal refusal) {
  refusal_ = refusal;
  state_ = State::refused;
  return Step::refused;
}

RequestReader::Step RequestReader::next(Request& request, Framing& framing) {
  PENSTOCK_CHECK(state_ != State::decide);
  if (state_ == State::discard) {
    const auto skipped =
        static_cast<std::size_t>(std::min<std::uint64_t>(content_length_, size_ - read_));
    content_length_ -= skipped;
    read_ += skipped;
    if (content_length_ > 0) return Step::need_more;
    finish();
  }
  switch (state_) {
    case State::head:
      return read_head(request, framing);
    case State::body:
    case State::whole:
      return read_body(request, framing);
    default:
      return Step::refused;
  }
}

// A client may put an empty line or two before a request (RFC 9112, 2.2).
bool RequestReader::skip_blank_lines() {
  constexpr std::uint8_t kBlankBytesMax = 4;
  while (size_ > 0 && (*data_ == '\r' || *data_ == '\n')) {
    const char expected = blank_bytes_ % 2 == 0 ? '\r' : '\n';
    if (*data_ != expected || blank_bytes_ == kBlankBytesMax) return false;
    ++blank_bytes_;
    ++data_;
    --size_;
  }
  return blank_bytes_ % 2 == 0 || size_ == 0;
}

RequestReader::Step RequestReader::read_head(Request& request, Framing& framing) {
  if (!skip_blank_lines()) return refuse({400, "the request line does not start with a method"});
  switch (scanner_.scan({data_, size_}, *limits_)) {
    case HeadScanner::Status::need_more:
      return Step::need_more;
    case HeadScanner::Status::refused:
      return refuse(scanner_.refusal());
    case HeadScanner::Status::complete:
      break;
  }
  head_size_ = scanner_.head_size();
  read_ = head_size_;
  body_size_ = 0;
  if (const auto problem = parse_head(head(), request, framing)) return refuse(*problem);
  request.body = {};
  chunked_ = framing.chunked;
  content_length_ = framing.content_length;
  parsed_ = true;
  state_ = State::decide;
  return Step::head;
}

std::optional<Refusal> RequestReader::accept(std::size_t body_bytes_max) {
  PENSTOCK_CHECK(state_ == State::decide);
  body_max_ = body_bytes_max;
  if (content_length_ > body_bytes_max) return Refusal{413, "the body is too large"};
  chunks_ = {};
  state_ = State::body;
  return std::nullopt;
}

void RequestReader::discard() {
  PENSTOCK_CHECK(state_ == State::decide && !chunked_);
  state_ = State::discard;
}

// False: refused, or not whole yet.
bool RequestReader::read_chunks() {
  char* const body_end = data_ + head_size_ + body_size_;
  const ChunkDecoder::Progress progress =
      chunks_.decode(data_ + read_, size_ - read_, body_end, body_max_ - body_size_);
  read_ += progress.read;
  body_size_ += progress.written;
  switch (progress.status) {
    case ChunkDecoder::Status::done:
      return true;
    case ChunkDecoder::Status::malformed:
      refuse({400, "the chunked body is malformed"});
      return false;
    case ChunkDecoder::Status::too_large:
      refuse({413, "the body is too large"});
      return false;
    case ChunkDecoder::Status::need_more:
      return false;
  }
  return false;
}

RequestReader::Step RequestReader::read_body(Request& request, Framing& framing) {
  if (state_ == State::body) {
    if (chunked_) {
      if (!read_chunks()) return state_ == State::refused ? Step::refused : Step::need_more;
    } else {
      body_size_ =
          static_cast<std::size_t>(std::min<std::uint64_t>(content_length_, size_ - head_size_));
      read_ = head_size_ + body_size_;
      if (body_size_ < content_length_) return Step::need_more;
    }
    state_ = State::whole;
  }
  reparsed_ = !parsed_;
  if (reparsed_) {
    const auto problem = parse_head(head(), request, framing);
    PENSTOCK_CHECK(!problem);  // it was well-formed when it came
    parsed_ = true;
  }
  request.body = {data_ + head_size_, body_size_};
  return Step::request;
}

void RequestReader::finish() {
  PENSTOCK_CHECK(state_ == State::whole || state_ == State::discard);
  data_ += read_;
  size_ -= read_;
  read_ = 0;
  head_size_ = 0;
  body_size_ = 0;
  blank_bytes_ = 0;
  scanner_.reset();
  state_ = State::head;
}

void RequestReader::park() {
  parsed_ = false;
  if (state_ == State::discard) {
    data_ += read_;
    size_ -= read_;
    read_ = 0;
  } else if (state_ == State::body && chunked_) {
    // Data stands behind the head; the coding around it was read and is of no more use.
    size_ = head_size_ + body_size_;
    read_ = size_;
  }
  if (state_ == State::refused) size_ = 0;
  if (size_ == 0) {
    std::string().swap(own_);
    data_ = nullptr;
    in_own_ = false;
    return;
  }
  const std::size_t before = in_own_ ? static_cast<std::size_t>(data_ - own_.data()) : 0;
  if (in_own_ && before < size_) {
    // Moving the rest down for each small request would cost more than the requests.
    own_.resize(before + size_);
    return;
  }
  if (!in_own_ || before > 0) {
    std::string(data_, size_).swap(own_);
    data_ = own_.data();
    in_own_ = true;
  }
}

void RequestReader::abandon() {
  state_ = State::refused;
  park();
}

RequestReader::Place RequestReader::place() const noexcept {
  switch (state_) {
    case State::head:
      return size_ > 0 || blank_bytes_ % 2 != 0 ? Place::in_head : Place::between_requests;
    case State::discard:
      return Place::in_discarded_body;
    default:
      return Place::in_body;
  }
}

}  // namespace penstock::wire
