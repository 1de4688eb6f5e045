// What an answer of Temporal's frontend means for an item. Pure; knows no connection.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "sink/sink.h"

namespace penstock::sink {

// As gRPC gives it: the code's number, the sentence, and google.rpc.Status in `details`, if any.
struct StartStatus {
  int code = 0;
  std::string_view message;
  std::string_view details;
};

// When Temporal says that it is busy and not for how long.
inline constexpr Millis kBusyPause{1'000};
// While it cannot be used at all: as long as it has been so, within these.
inline constexpr Millis kAwayPauseMin{250};
inline constexpr Millis kAwayPauseMax{5'000};  // a dispatcher keeps its items through it

// Every request id of ours begins so.
inline constexpr std::string_view kRequestIdStart = "penstock:";

// Anything that concerns the server, the namespace or our credentials is `slow_down`: the item can
// do nothing about it and is charged nothing. `away` = how long nothing could be started.
// `request_id` is that of the start.
SinkAnswer judge_start(const StartStatus& status, std::string_view request_id, Millis away);

// "UNAVAILABLE: connection refused", bounded; for people.
std::string_view grpc_code_name(int code) noexcept;
std::string describe_status(int code, std::string_view message);

}  // namespace penstock::sink
