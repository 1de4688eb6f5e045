// The conformance suites on a real Redis and on a real cluster of three masters.
#include <memory>
#include <string>

#include "runtime/clocks.h"
#include "store/limits/conformance/limit_suite.h"
#include "store/limits/conformance/policy_suite.h"
#include "store/redis/testing/test_server.h"

namespace penstock::store::conformance {
namespace {

using redis::RedisStore;
using redis::TestServer;

class RedisHarness final : public Harness, public LimitHarness {
 public:
  explicit RedisHarness(bool cluster) : cluster_(cluster), prefix_(redis::fresh_prefix()) {
    open();
  }

  Backend backend() override { return store_->backend(); }
  LimitStore& limits() override { return *store_->backend().limits.store; }
  // The server's clock, which is this machine's.
  Instant now() override { return runtime::SystemClock().now(); }
  void reopen() override { open(); }

 private:
  void open() {
    const TestServer& server = cluster_ ? TestServer::cluster() : TestServer::single();
    store_.reset();
    store_ = redis::open_store({.url = server.url(),
                                .cluster = cluster_,
                                .connections = 8,
                                // Sanitizers and a busy machine make even small calls slow.
                                .deadline = Seconds{20},
                                .key_prefix = prefix_});
  }

  const bool cluster_;
  const std::string prefix_;
  std::unique_ptr<RedisStore> store_;
};

template <class Port>
std::unique_ptr<Port> fresh(bool cluster) {
  const TestServer& server = cluster ? TestServer::cluster() : TestServer::single();
  if (!server.problem().empty()) {
    ADD_FAILURE() << server.problem();
    return nullptr;
  }
  return std::make_unique<RedisHarness>(cluster);
}

const auto kLimitSubjects =
    testing::Values(LimitSubject{"redis", [] { return fresh<LimitHarness>(false); }},
                    LimitSubject{"cluster", [] { return fresh<LimitHarness>(true); }});
const auto kSubjects = testing::Values(Subject{"redis", [] { return fresh<Harness>(false); }},
                                       Subject{"cluster", [] { return fresh<Harness>(true); }});

INSTANTIATE_TEST_SUITE_P(Redis, LimitSuite, kLimitSubjects, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Redis, LimitConcurrencySuite, kLimitSubjects, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Redis, LimitDifferentialSuite, kLimitSubjects, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Redis, PolicySuite, kSubjects, name_of);

}  // namespace
}  // namespace penstock::store::conformance
