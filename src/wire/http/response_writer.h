// Puts responses on the wire, by hand: one append into one buffer. Pure but for the date it is
// told.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "wire/http/message.h"

namespace penstock::wire {

// `Date: …` of the current second, made once a second. One thread.
class DateLine {
 public:
  std::string_view at(Instant now);

 private:
  Seconds second_{-1};
  std::string line_;
};

struct ResponseLine {
  std::string_view date_line;
  std::string_view request_id;
  bool http11 = true;
  bool keep_alive = true;
  bool until_close = false;  // the end of the connection is the end of the body
  bool head_only = false;    // the answer to HEAD: the headers of GET, no body
};

// Control characters in a header's value would let a caller forge headers; they become spaces.
void append_response(std::string& out, const Response& response, const ResponseLine& line);

inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace penstock::wire
