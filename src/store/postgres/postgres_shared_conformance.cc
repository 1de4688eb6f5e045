// Several nodes on one PostgreSQL, and what happens to them when it fails.
#include <memory>
#include <string>
#include <vector>

#include "store/limits/conformance/shared_faults.h"
#include "store/limits/conformance/shared_usage.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::conformance {
namespace {

using postgres::PostgresStore;
using postgres::TestServer;

// Of one attempt to connect, too: short enough to see many of them fail.
constexpr Millis kConnectPatience = Seconds{3};

class PostgresNodes final : public SharedHarness {
 public:
  PostgresNodes() : database_(TestServer::shared().fresh_database()) {}
  ~PostgresNodes() override {
    nodes_.clear();
    TestServer::shared().drop(database_);
  }

  Backend add_node(Millis deadline, int port) override {
    nodes_.push_back(postgres::open_store({.url = postgres::ServerProcess::url_to(port, database_),
                                           .deadline = kConnectPatience,
                                           .limits_deadline = deadline}));
    return nodes_.back()->backend();
  }
  int port() override { return TestServer::shared().port(); }
  void kill_engine() override { TestServer::shared().kill(); }
  void start_engine() override { TestServer::shared().start(); }

 private:
  const std::string database_;
  std::vector<std::unique_ptr<PostgresStore>> nodes_;
};

const auto kSharedSubjects =
    testing::Values(SharedSubject{"postgres", [] { return std::make_unique<PostgresNodes>(); }});

INSTANTIATE_TEST_SUITE_P(Postgres, SharedUsageSuite, kSharedSubjects, shared_subject_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SharedFaultSuite, kSharedSubjects, shared_subject_name);

}  // namespace
}  // namespace penstock::store::conformance
