// For tests: a Temporal frontend in this process that answers as it is told and keeps what it got.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <temporal/api/workflowservice/v1/service.grpc.pb.h>

namespace penstock::sink {

namespace temporal_api = temporal::api::workflowservice::v1;

class TestFrontend final : public temporal_api::WorkflowService::CallbackService {
 public:
  using Metadata = std::map<std::string, std::string>;

  // With a port: where a server was before.
  explicit TestFrontend(int port = 0) { start(port, grpc::InsecureServerCredentials()); }
  explicit TestFrontend(const std::shared_ptr<grpc::ServerCredentials>& credentials) {
    start(0, credentials);
  }
  ~TestFrontend() override {
    release();
    server_->Shutdown(std::chrono::system_clock::now());
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }

  // Every start from now on is answered so.
  void answer(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }
  void answer_probes(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    probe_status_ = std::move(status);
  }
  // Starts wait until release(); so does the end of this.
  void hold() {
    const std::lock_guard lock(mutex_);
    holding_ = true;
  }
  void release() {
    std::vector<grpc::ServerUnaryReactor*> held;
    {
      const std::lock_guard lock(mutex_);
      holding_ = false;
      held.swap(held_);
    }
    for (grpc::ServerUnaryReactor* each : held) each->Finish(grpc::Status::OK);
  }

  std::vector<temporal_api::StartWorkflowExecutionRequest> wait_for_starts(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(90), [&] { return starts_.size() >= count; }));
    return starts_;
  }
  Metadata metadata() {
    const std::lock_guard lock(mutex_);
    return metadata_;
  }

 private:
  void start(int port, const std::shared_ptr<grpc::ServerCredentials>& credentials) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port), credentials, &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    EXPECT_NE(server_, nullptr);
  }

  grpc::ServerUnaryReactor* StartWorkflowExecution(
      grpc::CallbackServerContext* context,
      const temporal_api::StartWorkflowExecutionRequest* request,
      temporal_api::StartWorkflowExecutionResponse* response) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    const std::lock_guard lock(mutex_);
    starts_.push_back(*request);
    metadata_.clear();
    for (const auto& [name, value] : context->client_metadata()) {
      metadata_.emplace(std::string(name.data(), name.size()),
                        std::string(value.data(), value.size()));
    }
    changed_.notify_all();
    response->set_run_id("run");
    response->set_started(true);
    if (holding_) {
      held_.push_back(reactor);
    } else {
      reactor->Finish(status_);
    }
    return reactor;
  }

  grpc::ServerUnaryReactor* DescribeNamespace(grpc::CallbackServerContext* context,
                                              const temporal_api::DescribeNamespaceRequest*,
                                              temporal_api::DescribeNamespaceResponse*) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    const std::lock_guard lock(mutex_);
    reactor->Finish(probe_status_);
    return reactor;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  grpc::Status status_;                                              // guarded by mutex_
  grpc::Status probe_status_;                                        // guarded by mutex_
  bool holding_ = false;                                             // guarded by mutex_
  std::vector<grpc::ServerUnaryReactor*> held_;                      // guarded by mutex_
  std::vector<temporal_api::StartWorkflowExecutionRequest> starts_;  // guarded by mutex_
  Metadata metadata_;                                                // guarded by mutex_
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace penstock::sink
