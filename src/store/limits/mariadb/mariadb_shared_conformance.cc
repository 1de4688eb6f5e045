// Several nodes on one MariaDB, and what happens to them when it fails.
#include <memory>
#include <string>
#include <vector>

#include "store/limits/conformance/shared_faults.h"
#include "store/limits/conformance/shared_usage.h"
#include "store/limits/mariadb/testing/test_server.h"

namespace penstock::store::conformance {
namespace {

using mariadb::MariadbStore;
using mariadb::TestServer;

// Of one attempt to connect, too: short enough to see many of them fail.
constexpr Millis kConnectPatience = Seconds{3};

class MariadbNodes final : public SharedHarness {
 public:
  MariadbNodes() : database_(TestServer::shared().fresh_database()) {}
  ~MariadbNodes() override {
    nodes_.clear();
    TestServer::shared().drop(database_);
  }

  Backend add_node(Millis deadline, int port) override {
    nodes_.push_back(mariadb::open_store({.url = TestServer::url_to(port, database_),
                                          .deadline = deadline,
                                          .upkeep_deadline = kConnectPatience}));
    return nodes_.back()->backend();
  }
  int port() override { return TestServer::shared().port(); }
  void kill_engine() override { TestServer::shared().kill(); }
  void start_engine() override { TestServer::shared().start(); }

 private:
  const std::string database_;
  std::vector<std::unique_ptr<MariadbStore>> nodes_;
};

const auto kSubjects =
    testing::Values(SharedSubject{"mariadb", [] { return std::make_unique<MariadbNodes>(); }});

INSTANTIATE_TEST_SUITE_P(Mariadb, SharedUsageSuite, kSubjects, shared_subject_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, SharedFaultSuite, kSubjects, shared_subject_name);

}  // namespace
}  // namespace penstock::store::conformance
