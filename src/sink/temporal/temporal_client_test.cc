#include "sink/temporal/temporal_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>

#include "runtime/clocks.h"
#include "sink/temporal/outcome.h"
#include "sink/temporal/test_frontend.h"
#include "sink/test_answers.h"

namespace penstock::sink {
namespace {

using testing::HasSubstr;

TemporalSettings settings() {
  return {.workflow_type = "PaymentExecWorkflow", .task_queue = "payment-exec-task-queue"};
}

Handover item(const std::string& id = "p-1") {
  return {.type = ItemType::trusted("PAYMENT"),
          .id = ItemId::trusted(id),
          .scheduled = Instant{Seconds{1'700'000'000}},
          .context = R"({"amount":"12.50"})"};
}

class OnFrontend : public testing::Test {
 protected:
  void open(TemporalOptions options = {}, Millis timeout = Seconds{120}) {
    if (options.address.empty()) options.address = frontend_->address();
    options.namespace_name = "payments";
    options.probe_interval = Millis{50};
    options.start_timeout = timeout;
    client_ = std::make_unique<TemporalClient>(clock_, log_, metrics_, std::move(options));
    sink_ = client_->open_sink(settings());
  }
  SinkAnswer ask(Handover&& handover = item()) {
    Answers one;
    sink_->send(std::move(handover), one.taker());
    std::vector<SinkAnswer> answers = one.wait(1);
    return answers.empty() ? SinkAnswer{.detail = "no answer"} : std::move(answers.front());
  }
  // Empty = healthy.
  void wait_for_health(const std::string& what) {
    const Instant end = clock_.now() + Seconds{30};
    std::string told;
    do {
      const Result<void> health = client_->health();
      told = health ? "" : health.error().what;
      if (what.empty() ? told.empty() : told.find(what) != told.npos) return;
      std::this_thread::yield();
    } while (clock_.now() < end);
    FAIL() << "not \"" << what << "\" but \"" << told << "\"";
  }

  const runtime::SteadyWallClock clock_;
  Log log_{clock_, 2, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  std::unique_ptr<TestFrontend> frontend_ = std::make_unique<TestFrontend>();
  std::unique_ptr<TemporalClient> client_;
  std::unique_ptr<Sink> sink_;
};

TEST_F(OnFrontend, starts_the_items_workflow) {
  open();
  Handover handover = item();
  handover.start_delay = Millis{90'250};
  EXPECT_EQ(told(ask(std::move(handover))), "done: started");
  const auto request = frontend_->wait_for_starts(1).front();
  EXPECT_EQ(request.namespace_(), "payments");
  EXPECT_EQ(request.workflow_id(), "exec-PAYMENT-p-1");
  EXPECT_EQ(request.workflow_type().name(), "PaymentExecWorkflow");
  EXPECT_EQ(request.task_queue().name(), "payment-exec-task-queue");
  EXPECT_EQ(request.workflow_id_reuse_policy(), 3);     // REJECT_DUPLICATE
  EXPECT_EQ(request.workflow_id_conflict_policy(), 1);  // FAIL
  EXPECT_EQ(request.workflow_start_delay().seconds(), 90);
  EXPECT_EQ(request.workflow_start_delay().nanos(), 250'000'000);
  ASSERT_EQ(request.input().payloads_size(), 2);
  EXPECT_EQ(request.input().payloads(0).data(), R"("p-1")");
  EXPECT_EQ(request.input().payloads(1).data(), R"({"amount":"12.50"})");
  for (const auto& payload : request.input().payloads()) {
    EXPECT_EQ(payload.metadata().at("encoding"), "json/plain");
  }
}

TEST_F(OnFrontend, says_the_same_request_id_at_every_attempt) {
  open();
  ask();
  Handover again = item();
  again.attempt = 7;
  again.retry_count = 3;
  ask(std::move(again));
  ask(item("p-2"));
  const auto starts = frontend_->wait_for_starts(3);
  EXPECT_FALSE(starts[0].has_workflow_start_delay());
  EXPECT_FALSE(starts[0].request_id().empty());
  EXPECT_EQ(starts[0].request_id(), starts[1].request_id());
  EXPECT_NE(starts[0].request_id(), starts[2].request_id());
}

TEST_F(OnFrontend, passes_on_what_the_server_says) {
  open();
  using grpc::StatusCode;
  frontend_->answer({StatusCode::ALREADY_EXISTS, "it runs"});
  EXPECT_EQ(told(ask()), "done: already started");
  frontend_->answer({StatusCode::INVALID_ARGUMENT, "no"});
  EXPECT_EQ(told(ask()), "refused: INVALID_ARGUMENT: no");
  frontend_->answer({StatusCode::INTERNAL, "oh"});
  EXPECT_EQ(told(ask()), "failed: INTERNAL: oh");
  frontend_->answer({StatusCode::RESOURCE_EXHAUSTED, "too many"});
  EXPECT_EQ(told(ask()), "slow_down: RESOURCE_EXHAUSTED: too many 1000");
  EXPECT_THAT(metrics_.prometheus_text(), HasSubstr("penstock_temporal_already_started_total 1"));
}

TEST_F(OnFrontend, reads_the_details_of_an_error) {
  open();
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(7);
  google::rpc::Status status;
  status.add_details()->PackFrom(info);
  frontend_->answer({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many", status.SerializeAsString()});
  EXPECT_EQ(told(ask()), "slow_down: RESOURCE_EXHAUSTED: too many 7000");
}

TEST_F(OnFrontend, has_many_starts_under_way) {
  open();
  frontend_->hold();
  Answers answers;
  for (int i = 0; i < 200; ++i) sink_->send(item(std::to_string(i)), answers.taker());
  EXPECT_EQ(frontend_->wait_for_starts(200).size(), 200U);
  EXPECT_EQ(answers.size(), 0U);
  frontend_->release();
  for (const SinkAnswer& answer : answers.wait(200)) EXPECT_EQ(answer.outcome, SinkOutcome::done);
}

TEST_F(OnFrontend, answers_what_is_under_way_when_it_is_closed) {
  open();
  frontend_->hold();
  Answers answers;
  for (int i = 0; i < 20; ++i) sink_->send(item(std::to_string(i)), answers.taker());
  frontend_->wait_for_starts(20);
  sink_.reset();
  EXPECT_EQ(answers.size(), 20U);
  for (const SinkAnswer& answer : answers.wait(20)) {
    EXPECT_EQ(told(answer), "failed: the sink was closed");
  }
}

TEST_F(OnFrontend, waits_for_a_server_that_does_not_answer_in_time) {
  open({}, Millis{200});
  wait_for_health("");
  frontend_->hold();
  const SinkAnswer answer = ask();
  EXPECT_EQ(answer.outcome, SinkOutcome::slow_down);
  EXPECT_THAT(answer.detail, HasSubstr("DEADLINE_EXCEEDED"));
}

TEST_F(OnFrontend, tells_why_nothing_can_be_started_and_recovers) {
  open();
  wait_for_health("");
  frontend_->answer_probes({grpc::StatusCode::NOT_FOUND, "Namespace payments is not found."});
  wait_for_health("there is no namespace payments");
  frontend_->answer_probes({grpc::StatusCode::PERMISSION_DENIED, "who are you"});
  wait_for_health("PERMISSION_DENIED: who are you");
  frontend_->answer_probes(grpc::Status::OK);
  wait_for_health("");
  frontend_->answer({grpc::StatusCode::RESOURCE_EXHAUSTED, "namespace rate limit exceeded"});
  ask();
  wait_for_health("RESOURCE_EXHAUSTED: namespace rate limit exceeded");
  frontend_->answer(grpc::Status::OK);
  ask();
  wait_for_health("");
}

TEST_F(OnFrontend, items_wait_while_the_server_is_away) {
  open();
  wait_for_health("");
  const int port = frontend_->port();
  frontend_.reset();
  wait_for_health("UNAVAILABLE");
  EXPECT_THAT(client_->health().error().what, HasSubstr("127.0.0.1:" + std::to_string(port)));
  const SinkAnswer answer = ask();
  EXPECT_EQ(answer.outcome, SinkOutcome::slow_down);
  EXPECT_GE(answer.pause, kAwayPauseMin);
  Handover paced = item();
  paced.patience = Millis{8};
  EXPECT_EQ(ask(std::move(paced)).outcome, SinkOutcome::slow_down);
  frontend_ = std::make_unique<TestFrontend>(port);
  wait_for_health("");
  EXPECT_EQ(told(ask()), "done: started");
  Handover paced_again = item();
  paced_again.patience = Seconds{8};
  EXPECT_EQ(told(ask(std::move(paced_again))), "done: started");
}

TEST_F(OnFrontend, sends_the_api_key_and_the_namespace_beside_each_call) {
  open({.version = "1.2.3", .api_key = "secret"});
  ask();
  const auto metadata = frontend_->metadata();
  EXPECT_EQ(metadata.at("authorization"), "Bearer secret");
  EXPECT_EQ(metadata.at("temporal-namespace"), "payments");
  EXPECT_EQ(metadata.at("client-name"), "penstock");
  EXPECT_EQ(metadata.at("client-version"), "1.2.3");
}

}  // namespace
}  // namespace penstock::sink
