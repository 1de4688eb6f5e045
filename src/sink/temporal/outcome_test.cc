#include "sink/temporal/outcome.h"

#include <gtest/gtest.h>

#include <string>

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <temporal/api/errordetails/v1/message.pb.h>

namespace penstock::sink {
namespace {

constexpr std::string_view kRequest = "penstock:PAYMENT:p-1";

SinkAnswer judge(int code, std::string_view message = "", std::string_view details = "",
                 Millis away = Millis{0}) {
  return judge_start({.code = code, .message = message, .details = details}, kRequest, away);
}

template <class Detail>
std::string details_with(const Detail& detail) {
  google::rpc::Status status;
  status.add_details()->PackFrom(detail);
  return status.SerializeAsString();
}

std::string started_by(const std::string& request_id) {
  temporal::api::errordetails::v1::WorkflowExecutionAlreadyStartedFailure failure;
  failure.set_start_request_id(request_id);
  return details_with(failure);
}

// docs/temporal.md has this table for people.
TEST(TemporalOutcome, follows_the_table_of_codes) {
  using enum SinkOutcome;
  constexpr SinkOutcome kTable[] = {
      done,       // OK
      slow_down,  // CANCELLED
      failed,     // UNKNOWN
      refused,    // INVALID_ARGUMENT
      slow_down,  // DEADLINE_EXCEEDED
      slow_down,  // NOT_FOUND
      done,       // ALREADY_EXISTS
      slow_down,  // PERMISSION_DENIED
      slow_down,  // RESOURCE_EXHAUSTED
      slow_down,  // FAILED_PRECONDITION
      failed,     // ABORTED
      failed,     // OUT_OF_RANGE
      slow_down,  // UNIMPLEMENTED
      failed,     // INTERNAL
      slow_down,  // UNAVAILABLE
      failed,     // DATA_LOSS
      slow_down,  // UNAUTHENTICATED
      failed,     // a number of tomorrow
  };
  for (int code = 0; code < static_cast<int>(std::size(kTable)); ++code) {
    EXPECT_EQ(judge(code).outcome, kTable[code]) << grpc_code_name(code);
  }
}

TEST(TemporalOutcome, says_what_the_server_said) {
  EXPECT_EQ(judge(3, "WorkflowType is not set").detail,
            "INVALID_ARGUMENT: WorkflowType is not set");
  EXPECT_EQ(judge(6).detail, "already started");
  EXPECT_LT(judge(3, std::string(100'000, 'x')).detail.size(), 400U);
}

TEST(TemporalOutcome, waits_longer_the_longer_the_server_is_away) {
  EXPECT_EQ(judge(14, "", "", Millis{0}).pause, kAwayPauseMin);
  EXPECT_EQ(judge(14, "", "", Millis{1'700}).pause, Millis{1'700});
  EXPECT_EQ(judge(14, "", "", Seconds{600}).pause, kAwayPauseMax);
}

TEST(TemporalOutcome, believes_a_busy_server_that_names_a_pause) {
  EXPECT_EQ(judge(8, "namespace rate limit exceeded").pause, kBusyPause);
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(3);
  info.mutable_retry_delay()->set_nanos(500'000'001);
  EXPECT_EQ(judge(8, "", details_with(info)).pause, Millis{3'501});
  EXPECT_EQ(judge(8, "", "no message at all").pause, kBusyPause);
}

TEST(TemporalOutcome, refuses_what_is_too_large_for_every_attempt) {
  const SinkAnswer answer = judge(8, "grpc: received message larger than max (5 vs. 4)");
  EXPECT_EQ(answer.outcome, SinkOutcome::refused);
}

TEST(TemporalOutcome, takes_no_other_items_workflow_for_its_own) {
  EXPECT_EQ(judge(6, "", started_by(std::string(kRequest))).outcome, SinkOutcome::done);
  EXPECT_EQ(judge(6, "", started_by("of-another-program")).outcome, SinkOutcome::done);
  EXPECT_EQ(judge(6, "", started_by("penstock:PAYMENT-p:1")).outcome, SinkOutcome::refused);
}

}  // namespace
}  // namespace penstock::sink
