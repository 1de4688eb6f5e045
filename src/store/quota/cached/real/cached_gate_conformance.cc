// The suites of quota gates: two nodes with a Redis, and with a cluster, in front of a PostgreSQL;
// and the same two when Redis is away.
#include <memory>

#include "store/quota/cached/real/testing/nodes.h"
#include "store/quota/conformance/cached_gate_suite.h"

namespace penstock::store::conformance {
namespace {

using cached::Node;
using cached::NodeSettings;

const auto* const kNeedsPostgres = testing::AddGlobalTestEnvironment(new postgres::NeedsPostgres);

enum class Kind { redis, cluster, away };

class CachedHarness final : public GateHarness {
 public:
  explicit CachedHarness(Kind kind) {
    const redis::TestServer& server =
        kind == Kind::cluster ? redis::TestServer::cluster() : redis::TestServer::single();
    NodeSettings settings{.redis_url = kind == Kind::away ? "redis://127.0.0.1:1" : server.url(),
                          .cluster = kind == Kind::cluster};
    for (auto& node : nodes_) node = std::make_unique<Node>(database_.url(), settings);
    if (kind == Kind::away) return;
    for (auto& node : nodes_) EXPECT_TRUE(node->wait_for_cache());
  }

  QuotaGate& gate() override { return nodes_[0]->gate(); }
  QuotaGate& other_gate() override { return nodes_[1]->gate(); }
  QuotaStore& quotas() override { return nodes_[0]->quotas(); }
  // The database's clock, which is this machine's.
  Instant now() override { return runtime::SystemClock().now(); }

 private:
  cached::Database database_;
  std::unique_ptr<Node> nodes_[2];
};

GateSubject subject(const char* name, Kind kind) {
  return {name, [kind] { return std::make_unique<CachedHarness>(kind); }};
}

const auto kSubjects =
    testing::Values(subject("redis", Kind::redis), subject("cluster", Kind::cluster),
                    subject("redis_away", Kind::away));

INSTANTIATE_TEST_SUITE_P(Cached, CachedGateSuite, kSubjects, gate_name);
INSTANTIATE_TEST_SUITE_P(Cached, CachedGateDifferentialSuite, kSubjects, gate_name);
INSTANTIATE_TEST_SUITE_P(Cached, QuotaGateConcurrencySuite, kSubjects, gate_name);

}  // namespace
}  // namespace penstock::store::conformance
