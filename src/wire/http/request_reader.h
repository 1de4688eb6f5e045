// Cuts a connection's bytes into requests. Sans-io and total; what it finds does not depend on
// where the bytes were cut. Whole requests are read where they were received; only an unfinished
// one is kept, so an idle connection holds no memory.
//
//   feed -> next: head -> accept | discard -> next: request -> finish -> next … -> park
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wire/http/chunked.h"
#include "wire/http/message.h"
#include "wire/http/request_head.h"

namespace penstock::wire {

class RequestReader {
 public:
  enum class Step : std::uint8_t {
    need_more,  // park, and feed when there are bytes
    head,       // `request` has all but its body; accept or discard it
    request,    // `request` is whole; finish it
    refused,    // see refusal(); nothing more can be read
  };
  enum class Place : std::uint8_t { between_requests, in_head, in_body, in_discarded_body };

  // `limits` must outlive the reader.
  explicit RequestReader(const HeadLimits& limits) noexcept : limits_(&limits) {}
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Adds bytes. They are read (and changed) in place, so they must stay until park().
  void feed(std::span<char> bytes);

  // Views in `request` are valid until the next call of any of these. With Step::request,
  // `reparsed` tells that the head was parsed once more, because the body came later.
  Step next(Request& request, Framing& framing);
  bool reparsed() const noexcept { return reparsed_; }

  // After Step::head: reads the body, at most that long. A refusal leaves the choice open.
  std::optional<Refusal> accept(std::size_t body_bytes_max);
  // After Step::head, with a Content-Length: reads past the body without keeping it.
  void discard();
  // After Step::request: the next one may come.
  void finish();
  // Keeps what is not read yet; the memory that was fed is free again.
  void park();
  // Reads nothing more and keeps nothing.
  void abandon();

  const Refusal& refusal() const noexcept { return refusal_; }
  Place place() const noexcept;
  // Whether bytes wait that were not looked at yet. After Step::head: any byte of the body.
  bool has_unread() const noexcept { return size_ > read_; }
  std::size_t body_bytes() const noexcept { return body_size_; }  // of the body so far
  std::size_t held_bytes() const noexcept { return own_.capacity(); }

 private:
  enum class State : std::uint8_t { head, decide, body, discard, whole, refused };

  Step read_head(Request& request, Framing& framing);
  Step read_body(Request& request, Framing& framing);
  bool skip_blank_lines();
  bool read_chunks();
  Step refuse(Refusal refusal);
  std::string_view head() const noexcept { return {data_, head_size_}; }

  const HeadLimits* limits_;
  State state_ = State::head;
  bool reparsed_ = false;
  bool parsed_ = false;           // the caller's request has views of this head
  std::uint8_t blank_bytes_ = 0;  // line ends before the request line
  Refusal refusal_;

  // The unread bytes: of the memory fed, or of own_. The current request starts at data_.
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t read_ = 0;  // used up by the current request
  bool in_own_ = false;   // data_ points into own_
  std::string own_;

  HeadScanner scanner_;
  std::size_t head_size_ = 0;
  std::size_t body_size_ = 0;  // stands behind the head
  std::size_t body_max_ = 0;
  std::uint64_t content_length_ = 0;
  bool chunked_ = false;
  ChunkDecoder chunks_;
};

}  // namespace penstock::wire
