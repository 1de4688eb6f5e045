// The limit that the Temporal sink is held against: a bare loop of StartWorkflowExecution over one
// connection, so many under way at once, with the fields and the payloads that the sink sends.
// Usage: bench_temporal ADDRESS NAMESPACE PREFIX STARTS CONCURRENCY CONTEXT; prints starts a
// second.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <temporal/api/workflowservice/v1/service.grpc.pb.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "runtime/clocks.h"

namespace {

namespace api = temporal::api::workflowservice::v1;
namespace enums = temporal::api::enums::v1;

struct Call {
  std::unique_ptr<grpc::ClientContext> context;  // one is good for one call
  grpc::Status status;
  api::StartWorkflowExecutionResponse response;
  std::unique_ptr<grpc::ClientAsyncResponseReader<api::StartWorkflowExecutionResponse>> reader;
};

void add_payload(api::StartWorkflowExecutionRequest& request, const std::string& json) {
  auto& payload = *request.mutable_input()->add_payloads();
  (*payload.mutable_metadata())["encoding"] = "json/plain";
  payload.set_data(json);
}

class Loop {
 public:
  Loop(const std::string& address, const std::string& namespace_name, std::string prefix,
       std::string context)
      : stub_(api::WorkflowService::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        prefix_(std::move(prefix)),
        context_(std::move(context)) {
    template_.set_namespace_(namespace_name);
    template_.mutable_workflow_type()->set_name("BenchWorkflow");
    template_.mutable_task_queue()->set_name("bench");
    template_.set_identity("bench");
    template_.set_workflow_id_conflict_policy(enums::WORKFLOW_ID_CONFLICT_POLICY_FAIL);
    template_.set_workflow_id_reuse_policy(enums::WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE);
  }

  double run(int starts, int concurrency) {
    std::vector<Call> calls(static_cast<std::size_t>(concurrency));
    const penstock::runtime::Stopwatch watch;
    int begun = 0;
    for (Call& call : calls) {
      if (begun < starts) begin(call, begun++);
    }
    for (int ended = 0; ended < starts; ++ended) {
      void* tag = nullptr;
      bool ok = false;
      PENSTOCK_CHECK(queue_.Next(&tag, &ok) && ok);
      Call& call = *static_cast<Call*>(tag);
      if (!call.status.ok()) {
        std::fprintf(stderr, "a start failed: %s\n", call.status.error_message().c_str());
        std::exit(1);
      }
      if (begun < starts) begin(call, begun++);
    }
    return starts / watch.seconds();
  }

 private:
  void begin(Call& call, int number) {
    api::StartWorkflowExecutionRequest request = template_;
    const std::string id = fmt::format("{}-{:07d}", prefix_, number);
    request.set_workflow_id("exec-BENCH-" + id);
    request.set_request_id("bench:BENCH:" + id);
    add_payload(request, '"' + id + '"');
    add_payload(request, context_);
    call.context = std::make_unique<grpc::ClientContext>();
    call.context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    call.reader = stub_->AsyncStartWorkflowExecution(call.context.get(), request, &queue_);
    call.reader->Finish(&call.response, &call.status, &call);
  }

  const std::unique_ptr<api::WorkflowService::Stub> stub_;
  const std::string prefix_;
  const std::string context_;
  api::StartWorkflowExecutionRequest template_;
  grpc::CompletionQueue queue_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: bench_temporal ADDRESS NAMESPACE PREFIX STARTS CONCURRENCY CONTEXT\n");
    return 2;
  }
  Loop loop(argv[1], argv[2], argv[3], argv[6]);
  std::printf("%.1f\n", loop.run(std::atoi(argv[4]), std::atoi(argv[5])));
}
