// The head of a request (request line and header fields): where it ends, and what it says. Sans-io
// and total: any bytes give a head, "need more", or a refusal. Boost.Beast does the parsing; what
// it lets through but a server of the open net should not (folded lines, bare line feeds, two
// framings at once) is refused here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/http/message.h"

namespace penstock::wire {

// Why a request cannot be served. `message` is a literal.
struct Refusal {
  int status = 400;
  std::string_view message;
};

struct HeadLimits {
  std::size_t line_bytes = 8 * 1024;   // request line; beyond it 414
  std::size_t head_bytes = 16 * 1024;  // all of the head; beyond it 431
};

// Looks for the end of a head in a buffer that grows. Each byte is looked at once; what it says
// does not depend on where the input was cut.
class HeadScanner {
 public:
  enum class Status : std::uint8_t { need_more, complete, refused };

  // `bytes` starts at the request line and has all that was shown before.
  Status scan(std::string_view bytes, const HeadLimits& limits);

  std::size_t head_size() const noexcept { return scanned_; }  // when complete, blank line included
  const Refusal& refusal() const noexcept { return refusal_; }
  void reset() noexcept { *this = {}; }

 private:
  Status refuse(std::string_view bytes, Refusal refusal);
  Status wait(std::string_view bytes);

  std::size_t scanned_ = 0;    // whole lines
  std::size_t looked_at_ = 0;  // no line feed between scanned_ and here
  std::size_t line_size_ = 0;  // of the request line, once it is there
  bool line_checked_ = false;
  Refusal refusal_;
};

// How the request says its body is delimited and what may follow it.
struct Framing {
  std::uint64_t content_length = 0;
  bool chunked = false;
  bool http11 = true;
  bool keep_alive = true;
  bool expects_continue = false;

  bool has_body() const noexcept { return chunked || content_length > 0; }
};

// Parses a whole head. Fills method, target, path, query and headers of `request` with views into
// `head`; its other fields stay as they are.
std::optional<Refusal> parse_head(std::string_view head, Request& request, Framing& framing);

}  // namespace penstock::wire
