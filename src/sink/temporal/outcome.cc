#include "sink/temporal/outcome.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <temporal/api/errordetails/v1/message.pb.h>

namespace penstock::sink {
namespace {

// The numbers of gRPC, which are part of its protocol.
enum Code : int {
  kOk = 0,
  kCancelled = 1,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kUnavailable = 14,
  kUnauthenticated = 16,
};

constexpr std::array<std::string_view, 17> kNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

// Fits a column and a line of a log.
constexpr std::size_t kMessageBytesMax = 300;

template <class Detail>
std::optional<Detail> detail_of(std::string_view details) {
  google::rpc::Status status;
  if (!status.ParseFromArray(details.data(), static_cast<int>(details.size()))) return {};
  for (const google::protobuf::Any& each : status.details()) {
    Detail detail;
    if (each.Is<Detail>() && each.UnpackTo(&detail)) return detail;
  }
  return {};
}

std::optional<Millis> asked_pause(std::string_view details) {
  const auto info = detail_of<google::rpc::RetryInfo>(details);
  if (!info) return {};
  const auto& delay = info->retry_delay();
  // An absurd one is cut here, so that no sum overflows; the item type's maxPauseSecs bounds it.
  const Seconds whole{std::clamp<std::int64_t>(delay.seconds(), 0, 86'400)};
  const auto rest = std::chrono::ceil<Millis>(std::chrono::nanoseconds{delay.nanos()});
  return std::max(whole + rest, Millis{1});
}

// Ids may contain a dash, so `exec-A-B-C` may be item C of type A-B or item B-C of type A. To take
// one's workflow for the other's would lose an item without a word.
bool is_of_another_item(std::string_view details, std::string_view request_id) {
  namespace errors = temporal::api::errordetails::v1;
  const auto failure = detail_of<errors::WorkflowExecutionAlreadyStartedFailure>(details);
  return failure && failure->start_request_id() != request_id &&
         failure->start_request_id().starts_with(kRequestIdStart);
}

// The limit on a message is the transport's, and every attempt would meet it.
bool is_too_large(const StartStatus& status) {
  return status.message.find("larger than max") != std::string_view::npos;
}

}  // namespace

std::string_view grpc_code_name(int code) noexcept {
  const bool known = code >= 0 && code < static_cast<int>(kNames.size());
  return known ? kNames[static_cast<std::size_t>(code)] : "an unknown code";
}

std::string describe_status(int code, std::string_view message) {
  std::string out(grpc_code_name(code));
  if (message.empty()) return out;
  out += ": ";
  out += message.substr(0, kMessageBytesMax);
  return out;
}

SinkAnswer judge_start(const StartStatus& status, std::string_view request_id, Millis away) {
  const auto answer = [&](SinkOutcome outcome, std::optional<Millis> pause = {}) {
    return SinkAnswer{
        .outcome = outcome, .detail = describe_status(status.code, status.message), .pause = pause};
  };
  switch (status.code) {
    case kOk:
      return {.outcome = SinkOutcome::done, .detail = "started"};
    case kAlreadyExists:
      if (is_of_another_item(status.details, request_id)) {
        return {.outcome = SinkOutcome::refused,
                .detail = "another item has a workflow of this id"};
      }
      // Running or finished: the item's work is begun, and not twice.
      return {.outcome = SinkOutcome::done, .detail = "already started"};
    case kInvalidArgument:
      return answer(SinkOutcome::refused);
    case kResourceExhausted:
      if (is_too_large(status)) return answer(SinkOutcome::refused);
      return answer(SinkOutcome::slow_down, asked_pause(status.details).value_or(kBusyPause));
    case kCancelled:  // by the server, which is about to stop
    case kUnavailable:
    case kDeadlineExceeded:
    case kNotFound:  // of a start: the namespace
    case kPermissionDenied:
    case kUnauthenticated:
    case kFailedPrecondition:  // the namespace is handed over, or about to be deleted
    case kUnimplemented:       // something else listens there
      return answer(SinkOutcome::slow_down, std::clamp(away, kAwayPauseMin, kAwayPauseMax));
    default:
      return answer(SinkOutcome::failed);
  }
}

}  // namespace penstock::sink
