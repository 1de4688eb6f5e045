#include "sink/temporal/temporal_client.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <temporal/api/workflowservice/v1/service.grpc.pb.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "runtime/connection_health.h"
#include "runtime/threads.h"
#include "sink/temporal/outcome.h"
#include "wire/json.h"

namespace penstock::sink {
namespace {

namespace api = temporal::api::workflowservice::v1;
namespace enums = temporal::api::enums::v1;
using temporal::api::common::v1::Payload;

// As long as the daemon's other calls may take.
constexpr Millis kProbeTimeout = Seconds{5};
// After an outage of hours a connection is tried as often as after one of seconds.
constexpr Millis kReconnectMin{500};
constexpr Millis kReconnectMax = Seconds{5};
constexpr Millis kConnectTimeout = Seconds{5};
// A connection that died without a word is noticed within a minute, also when nothing is asked.
constexpr Millis kKeepaliveTime = Seconds{30};
constexpr Millis kKeepaliveTimeout = Seconds{10};
// A paced item whose connection is not there yet comes back after this.
constexpr Millis kConnectingPause{100};

int milliseconds(Millis span) { return static_cast<int>(span.count()); }

gpr_timespec deadline_in(Millis span) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(span.count(), GPR_TIMESPAN));
}

std::shared_ptr<grpc::Channel> connect(const TemporalOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, milliseconds(kReconnectMin));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, milliseconds(kReconnectMax));
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, milliseconds(kConnectTimeout));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(kKeepaliveTime));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(kKeepaliveTimeout));
  // What is asked is what stands in the settings: no proxy of the environment, no retry of its own,
  // no settings from the name service.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  // Two clients of one process to one server, as in tests, do not share what became of one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (!options.server_name.empty()) arguments.SetSslTargetNameOverride(options.server_name);
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (options.tls) {
    credentials = grpc::SslCredentials({.pem_root_certs = options.ca_certificates,
                                        .pem_private_key = options.key,
                                        .pem_cert_chain = options.certificate});
  }
  return grpc::CreateCustomChannel(options.address, credentials, arguments);
}

bool is_of_the_connection(int code) {
  return code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::DEADLINE_EXCEEDED ||
         code == grpc::StatusCode::CANCELLED || code == grpc::StatusCode::NOT_FOUND;
}

void set_json(Payload& payload, std::string&& json) {
  (*payload.mutable_metadata())["encoding"] = "json/plain";
  payload.set_data(std::move(json));
}

}  // namespace

class TemporalConnection {
 public:
  TemporalConnection(const Clock& clock, Log& log, runtime::Metrics& metrics,
                     TemporalOptions&& options)
      : clock_(clock),
        log_(log),
        options_(std::move(options)),
        already_started_(metrics.counter("penstock_temporal_already_started_total",
                                         "Workflows that ran or had run when they were started")),
        channel_(connect(options_)),
        stub_(api::WorkflowService::NewStub(channel_)),
        answers_([this] { take_answers(); }),
        prober_([this] { probe(); }) {}

  ~TemporalConnection() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      if (probing_ != nullptr) probing_->TryCancel();
      wake_.notify_all();
    }
    prober_.join();
    queue_.Shutdown();
    answers_.join();
  }

  Result<void> health() const {
    Result<void> good = health_.check(clock_.now());
    if (good) return good;
    return fail(good.error().kind,
                fmt::format("Temporal at {}: {}", options_.address, good.error().what));
  }

  void wait_for_probe(Millis at_most) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(at_most.count()), [&] { return probed_; });
  }

 private:
  friend class TemporalSink;

  struct Call {
    virtual ~Call() = default;
    virtual void finish() = 0;  // destroys the call

    grpc::ClientContext context;
    grpc::Status status;
  };

  void prepare(grpc::ClientContext& context, Millis timeout) const {
    context.set_deadline(deadline_in(timeout));
    context.AddMetadata("client-name", "penstock");
    if (!options_.version.empty()) context.AddMetadata("client-version", options_.version);
    if (options_.api_key.empty()) return;
    context.AddMetadata("authorization", "Bearer " + options_.api_key);
    context.AddMetadata("temporal-namespace", options_.namespace_name);
  }

  // Between the thread that began a call and the one that takes its answer. gRPC's queue orders the
  // two as well, but where a thread sanitizer cannot see it.
  void order() { const std::lock_guard lock(order_); }

  void take_answers() {
    runtime::set_thread_name("temporal");
    void* tag = nullptr;
    bool ok = false;  // of a call's end always so; its status tells the rest
    while (queue_.Next(&tag, &ok)) {
      order();
      static_cast<Call*>(tag)->finish();
    }
  }

  void probe() {
    runtime::set_thread_name("temporal-probe");
    for (;;) {
      grpc::ClientContext context;
      prepare(context, kProbeTimeout);
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        probing_ = &context;
      }
      api::DescribeNamespaceRequest request;
      request.set_namespace_(options_.namespace_name);
      api::DescribeNamespaceResponse response;
      report(stub_->DescribeNamespace(&context, request, &response));
      std::unique_lock lock(mutex_);
      probing_ = nullptr;
      probed_ = true;
      wake_.notify_all();
      wake_.wait_for(lock, std::chrono::milliseconds(options_.probe_interval.count()),
                     [&] { return stopping_; });
      if (stopping_) return;
    }
  }

  void report(const grpc::Status& status) {
    std::optional<std::string> trouble;
    if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
      trouble = fmt::format("there is no namespace {}", options_.namespace_name);
    } else if (!status.ok()) {
      trouble = describe_status(status.error_code(), status.error_message());
    }
    const std::string what = trouble.value_or("");
    if (!health_.on_probe(std::move(trouble)) && !first_report_) return;
    first_report_ = false;
    if (what.empty()) {
      log_.info("temporal.ready",
                {{"address", options_.address}, {"namespace", options_.namespace_name}});
    } else {
      log_.warn(
          "temporal.unavailable",
          {{"address", options_.address}, {"namespace", options_.namespace_name}, {"error", what}});
    }
  }

  const Clock& clock_;
  Log& log_;
  const TemporalOptions options_;
  runtime::Counter& already_started_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<api::WorkflowService::Stub> stub_;
  grpc::CompletionQueue queue_;
  runtime::ConnectionHealth health_;
  bool first_report_ = true;  // of the prober

  std::mutex order_;
  std::mutex mutex_;
  std::condition_variable wake_;
  grpc::ClientContext* probing_ = nullptr;  // guarded by mutex_
  bool stopping_ = false;                   // guarded by mutex_
  bool probed_ = false;                     // guarded by mutex_

  std::thread answers_;  // last: they use all of the above
  std::thread prober_;
};

class TemporalSink final : public Sink {
 public:
  TemporalSink(TemporalConnection& client, const TemporalSettings& settings) : client_(client) {
    template_.set_namespace_(client.options_.namespace_name);
    template_.mutable_workflow_type()->set_name(settings.workflow_type);
    template_.mutable_task_queue()->set_name(settings.task_queue);
    template_.set_identity("penstock");
    // A workflow that runs is left alone, and one that has finished is not run again: an item whose
    // settlement was lost comes again.
    template_.set_workflow_id_conflict_policy(enums::WORKFLOW_ID_CONFLICT_POLICY_FAIL);
    template_.set_workflow_id_reuse_policy(enums::WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE);
  }

  ~TemporalSink() override {
    std::unique_lock lock(mutex_);
    closing_ = true;
    for (Call& call : calls_) call.context.TryCancel();
    quiet_.wait(lock, [&] { return under_way_ == 0; });
  }

  void send(Handover&& item, Done done) override {
    if (item.patience && client_.channel_->GetState(true) != GRPC_CHANNEL_READY) {
      // It would go whenever the connection is there, long after its turn.
      const Millis away = client_.health_.on_trouble("connecting", true, client_.clock_.now());
      return done({.outcome = SinkOutcome::slow_down,
                   .detail = "connecting to Temporal",
                   .pause = std::clamp(away, kConnectingPause, kAwayPauseMax)});
    }
    api::StartWorkflowExecutionRequest request = request_for(std::move(item));
    CallRef call;
    {
      const std::lock_guard lock(mutex_);
      call = calls_.emplace(calls_.end(), *this, std::move(done), request.request_id());
      call->self = call;
      ++under_way_;
    }
    client_.prepare(call->context, client_.options_.start_timeout);
    call->reader =
        client_.stub_->AsyncStartWorkflowExecution(&call->context, request, &client_.queue_);
    // Nothing of the call is read behind order(): its answer may end it meanwhile.
    auto& reader = *call->reader;
    client_.order();
    reader.Finish(&call->response, &call->status, static_cast<ClientCall*>(&*call));
  }

 private:
  using ClientCall = TemporalConnection::Call;
  struct Call final : ClientCall {
    Call(TemporalSink& owner, Done&& taker, const std::string& id)
        : sink(owner), done(std::move(taker)), request_id(id) {}
    void finish() override { sink.on_answer(self); }

    TemporalSink& sink;
    Done done;
    const std::string request_id;
    std::list<Call>::iterator self;
    api::StartWorkflowExecutionResponse response;
    std::unique_ptr<grpc::ClientAsyncResponseReader<api::StartWorkflowExecutionResponse>> reader;
  };
  using CallRef = std::list<Call>::iterator;

  api::StartWorkflowExecutionRequest request_for(Handover&& item) const {
    api::StartWorkflowExecutionRequest request = template_;
    request.set_workflow_id(fmt::format("exec-{}-{}", item.type.str(), item.id.str()));
    // The same through retries, claims by another node and redrives: to the server a repeat is the
    // start that it has answered already.
    request.set_request_id(fmt::format("{}{}:{}", kRequestIdStart, item.type.str(), item.id.str()));
    if (item.start_delay > Millis{0}) {
      auto& delay = *request.mutable_workflow_start_delay();
      delay.set_seconds(item.start_delay / Seconds{1});
      delay.set_nanos(static_cast<std::int32_t>(item.start_delay % Seconds{1} / Millis{1}) *
                      1'000'000);
    }
    std::string id;
    wire::append_json_string(id, item.id.str());
    set_json(*request.mutable_input()->add_payloads(), std::move(id));
    set_json(*request.mutable_input()->add_payloads(), std::move(item.context));
    return request;
  }

  void on_answer(CallRef call) {
    std::list<Call> own;
    bool closing = false;
    {
      const std::lock_guard lock(mutex_);
      own.splice(own.begin(), calls_, call);  // nobody cancels it any more
      closing = closing_;
    }
    own.front().done(judge(own.front(), closing));
    own.clear();
    const std::lock_guard lock(mutex_);
    if (--under_way_ == 0) quiet_.notify_all();  // told under the lock: this may end then
  }

  SinkAnswer judge(const Call& call, bool closing) {
    const int code = call.status.error_code();
    const std::string& message = call.status.error_message();
    if (closing && code == grpc::StatusCode::CANCELLED) {
      return {.outcome = SinkOutcome::failed, .detail = "the sink was closed"};
    }
    const std::string details = call.status.error_details();  // a copy, which `status` looks at
    const StartStatus status{.code = code, .message = message, .details = details};
    SinkAnswer answer = judge_start(status, call.request_id, Millis{0});
    switch (answer.outcome) {
      case SinkOutcome::done:
        client_.health_.on_success();
        if (code != 0) client_.already_started_.add();
        break;
      case SinkOutcome::slow_down: {
        const Millis away = client_.health_.on_trouble(answer.detail, is_of_the_connection(code),
                                                       client_.clock_.now());
        answer.pause = judge_start(status, call.request_id, away).pause;
        break;
      }
      default:  // of the item, not of the server
        break;
    }
    return answer;
  }

  TemporalConnection& client_;
  api::StartWorkflowExecutionRequest template_;

  std::mutex mutex_;
  std::condition_variable quiet_;
  std::list<Call> calls_;      // guarded by mutex_
  std::size_t under_way_ = 0;  // guarded by mutex_; also those whose answer is being told
  bool closing_ = false;       // guarded by mutex_
};

TemporalClient::TemporalClient(const Clock& clock, Log& log, runtime::Metrics& metrics,
                               TemporalOptions options)
    : connection_(std::make_unique<TemporalConnection>(clock, log, metrics, std::move(options))) {}
TemporalClient::~TemporalClient() = default;

std::unique_ptr<Sink> TemporalClient::open_sink(const TemporalSettings& settings) {
  return std::make_unique<TemporalSink>(*connection_, settings);
}

SinkKind temporal_kind(TemporalClient* client) {
  return kind_of<TemporalSettings>(
      "temporal",
      [client](const TemporalSettings& settings) -> Result<std::unique_ptr<Sink>> {
        if (client != nullptr) return client->open_sink(settings);
        return invalid_field("sink.type", "is temporal, and temporal.address is not set");
      },
      [client]() -> Result<void> {
        if (client != nullptr) return client->health();
        return fail(ErrorKind::unavailable,
                    "item types go to Temporal, and temporal.address is not set");
      });
}

Result<void> TemporalClient::health() const { return connection_->health(); }
void TemporalClient::wait_for_probe(Millis at_most) { connection_->wait_for_probe(at_most); }

}  // namespace penstock::sink
