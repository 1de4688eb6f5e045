// What the daemon's answer to one batch means for the import. Pure; safe on any thread.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/http/http_client.h"
#include "wire/json.h"

namespace penstock::tool {

enum class LineFate {
  accepted,  // for slots: has a slot now, whether new or not, which the daemon answers alike
  known,     // was there before
  held,      // accepted, and waits for somebody to release it
  rejected,  // for what it says: the same line would be rejected again
  failed,
};

struct LineAnswer {
  LineFate fate = LineFate::failed;
  std::string json;            // the daemon's words about this line
  std::string id;              // of the payment, as far as the daemon read it
  std::string scheduled_time;  // when there is one
  int status = 0;              // when not taken
  std::string reason;          // "404 Not Found: …"
  bool again = false;          // not taken for a passing cause: worth sending again

  bool taken() const noexcept { return fate != LineFate::rejected && fate != LineFate::failed; }
};

using Answered = std::vector<LineAnswer>;  // one per line, in order

struct SendAgain {
  Millis after{0};  // zero = the sender's own backoff
  std::string why;
};

// The batch as a whole is not taken (413): smaller ones may be.
struct SendHalves {
  std::string why;
};

// No line of this import will be taken: wrong token, wrong address.
struct GiveUp {
  std::string why;
};

using BatchVerdict = std::variant<Answered, SendAgain, SendHalves, GiveUp>;

// What one element of `results` means.
using ReadLine = LineAnswer (*)(wire::JsonValue result);
LineAnswer read_slot_line(wire::JsonValue result);
LineAnswer read_payment_line(wire::JsonValue result);

// `lines` is how many were sent.
BatchVerdict judge_answer(const http::HttpAnswer& answer, std::size_t lines, ReadLine read_line);

}  // namespace penstock::tool
