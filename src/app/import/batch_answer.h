// What the daemon's answer to one batch means for the import. Pure; safe on any thread.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "app/client/http_client.h"
#include "base/result.h"
#include "base/time.h"

namespace penstock::app {

struct LineAnswer {
  bool assigned = false;
  std::string json;            // the daemon's words about this line
  std::string scheduled_time;  // when assigned
  int status = 0;              // when not
  std::string reason;          // "404 Not Found: …"
  bool again = false;          // not assigned for a passing cause: worth sending again
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

// `lines` is how many were sent.
BatchVerdict judge_answer(const HttpAnswer& answer, std::size_t lines);

}  // namespace penstock::app
