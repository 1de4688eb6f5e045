// QuotaLedger on gateway_quota, with what a cache has of it in gateway_lease.
#include <string>
#include <utility>

#include "store/quota/postgres/quotas.h"

namespace penstock::store::postgres {
namespace {

// All calls are sent again when the server broke a circle of locks.
class QuotaLeases final : public QuotaLedger {
 public:
  QuotaLeases(Database leases, Database epochs) : leases_(leases), epochs_(epochs) {}

  Result<std::vector<QuotaLease>> lease(std::int64_t epoch,
                                        std::span<const QuotaLeaseRequest> requests,
                                        const LeaseSize& size,
                                        std::optional<Instant> now) override {
    const Rows rows = PENSTOCK_TRY(leases_.insist(
        "cache_lease", epoch, users_of(requests), column(requests, &QuotaLeaseRequest::need),
        column(requests, &QuotaLeaseRequest::least), size.least, size.part, now));
    if (!rows[0][0]) return std::vector<QuotaLease>{};
    const std::int64_t at = rows[0][1];
    constexpr int kFirst = 2;
    std::vector<std::vector<std::int64_t>> columns;
    for (int number = kFirst; number < kFirst + 8; ++number) {
      columns.push_back(rows.integers(0, number));
      if (columns.back().size() != requests.size()) {
        return fail(ErrorKind::corrupt, "postgres: gateway_lease_quotas answers for other users");
      }
    }
    std::vector<QuotaLease> leases;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      leases.push_back({.result = static_cast<LeaseResult>(columns[0][i]),
                        .user = requests[i].user,
                        .rate_limit = columns[1][i],
                        .window = columns[2][i],
                        .ends = from_epoch_us(columns[3][i]),
                        .remaining = Micros{columns[3][i] - at},
                        .from = columns[4][i],
                        .to = columns[5][i],
                        .full = columns[6][i] != 0,
                        .stamp = columns[7][i]});
    }
    return leases;
  }

  Result<void> return_lease(std::int64_t epoch, const QuotaLease& lease) override {
    PENSTOCK_TRY(leases_.insist("cache_return_lease", epoch, lease.user.raw, lease.window,
                                lease.to - lease.from));
    return {};
  }

  Result<void> flow_back(std::int64_t epoch, std::span<const CountSeen> counts) override {
    if (counts.empty()) return {};
    PENSTOCK_TRY(epochs_.insist(
        "cache_flow_back", epoch, users_of(counts), column(counts, &CountSeen::window),
        column(counts, &CountSeen::count), column(counts, &CountSeen::version),
        column(counts, [](const CountSeen& seen) { return std::int64_t{seen.age.count()}; })));
    return {};
  }

  Result<std::vector<PastCache>> charge(std::span<const Charge> charges,
                                        std::optional<Instant> now) override {
    if (charges.empty()) return std::vector<PastCache>{};
    const Rows rows = PENSTOCK_TRY(
        leases_.insist("cache_charge", users_of(charges), column(charges, &Charge::cost), now));
    constexpr auto kLeased = static_cast<ChargeResult>(4);  // what the statement adds
    std::vector<PastCache> answers;
    for (const Charged& charged : PENSTOCK_TRY(charged_of(rows, charges.size()))) {
      const bool leased = charged.result == kLeased;
      answers.push_back({.charged = leased ? Charged{} : charged, .leased = leased});
    }
    return answers;
  }

  Result<void> give_back(std::span<const GiveBack> charges) override {
    if (charges.empty()) return {};
    PENSTOCK_TRY(leases_.insist("cache_give_back", users_of(charges),
                                column(charges, &GiveBack::cost),
                                column(charges, &GiveBack::window)));
    return {};
  }

  Result<CacheEpoch> state() override {
    const Rows rows = PENSTOCK_TRY(epochs_.insist("cache_state"));
    CacheEpoch epoch = epoch_of(rows);
    epoch.at = rows[0][4];
    return epoch;
  }
  Result<CacheEpoch> beat(std::string_view node, bool sees_cache, Millis term) override {
    const Rows rows = PENSTOCK_TRY(epochs_.insist("cache_beat", node, sees_cache, term));
    CacheEpoch epoch = epoch_of(rows);
    epoch.joined = rows[0][4];
    return epoch;
  }
  Result<CacheEpoch> close(std::int64_t epoch, std::string_view node) override {
    const Rows rows = PENSTOCK_TRY(epochs_.insist("cache_close", epoch, node));
    CacheEpoch closed = epoch_of(rows);
    closed.wait = Micros{rows.int8(0, 4)};
    return closed;
  }
  Result<CacheEpoch> open(std::int64_t after, std::string_view node, std::string_view token,
                          Millis term) override {
    const Rows rows = PENSTOCK_TRY(epochs_.insist("cache_open", after, node, token, term));
    CacheEpoch opened = epoch_of(rows);
    opened.joined = rows[0][4];
    return opened;
  }
  Result<void> leave(std::string_view node) override {
    PENSTOCK_TRY(epochs_.insist("cache_leave", node));
    return {};
  }

 private:
  static CacheEpoch epoch_of(const Rows& rows) {
    const auto row = rows[0];
    return {.number = row[0], .open = row[1], .settled = row[2], .token = row[3]};
  }

  Database leases_;
  Database epochs_;
};

}  // namespace

std::unique_ptr<QuotaLedger> make_quota_ledger(Database leases, Database epochs) {
  return std::make_unique<QuotaLeases>(leases, epochs);
}

}  // namespace penstock::store::postgres
