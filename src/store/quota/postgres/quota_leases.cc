#include "store/quota/postgres/quota_leases.h"

#include <string>
#include <utility>

#include "engine/postgres/calls.h"

namespace penstock::store::postgres {
namespace {

CacheEpoch epoch_of(const Rows& rows) {
  return {.number = rows.int8(0, 0),
          .open = rows.boolean(0, 1),
          .settled = rows.boolean(0, 2),
          .token = std::string(rows.text(0, 3))};
}

}  // namespace

Result<Rows> QuotaLeases::run(Pool& pool, const Call& call) {
  const runtime::Deadline deadline(deadline_);
  for (int tried = 1;; ++tried) {
    auto answers = run_calls(pool, {&call, 1}, deadline);
    if (answers) return std::move(answers->front());
    if (!worth_repeating(answers.error()) || tried >= kAttempts || deadline.passed()) {
      return std::unexpected(std::move(answers.error().error));
    }
  }
}

Result<std::vector<QuotaLease>> QuotaLeases::lease(std::int64_t epoch,
                                                   std::span<const QuotaLeaseRequest> requests,
                                                   const LeaseSize& size,
                                                   std::optional<Instant> now) {
  std::vector<std::int32_t> users;
  std::vector<std::int64_t> needs;
  std::vector<std::int64_t> leasts;
  for (const QuotaLeaseRequest& request : requests) {
    users.push_back(request.user.raw);
    needs.push_back(request.need);
    leasts.push_back(request.least);
  }
  Params params;
  params.int8(epoch)
      .int4s(users)
      .int8s(needs)
      .int8s(leasts)
      .int8(size.least)
      .int8(size.part)
      .int8(epoch_us(now));
  const auto rows = run(pool_, {.sql = statement("cache_lease"), .params = std::move(params)});
  if (!rows) return std::unexpected(rows.error());
  if (!rows->boolean(0, 0)) return std::vector<QuotaLease>{};
  const std::int64_t at = rows->int8(0, 1);
  constexpr int kFirst = 2;
  std::vector<std::vector<std::int64_t>> columns;
  for (int column = kFirst; column < kFirst + 8; ++column) {
    columns.push_back(rows->integers(0, column));
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

Result<void> QuotaLeases::return_lease(std::int64_t epoch, const QuotaLease& lease) {
  const auto rows = run(pool_, {.sql = statement("cache_return_lease"),
                                .params = Params()
                                              .int8(epoch)
                                              .int4(lease.user.raw)
                                              .int8(lease.window)
                                              .int8(lease.to - lease.from)});
  if (!rows) return std::unexpected(rows.error());
  return {};
}

Result<void> QuotaLeases::flow_back(std::int64_t epoch, std::span<const CountSeen> counts) {
  if (counts.empty()) return {};
  std::vector<std::int32_t> users;
  std::vector<std::int64_t> windows;
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> versions;
  std::vector<std::int64_t> ages;
  for (const CountSeen& seen : counts) {
    users.push_back(seen.user.raw);
    windows.push_back(seen.window);
    numbers.push_back(seen.count);
    versions.push_back(seen.version);
    ages.push_back(seen.age.count());
  }
  Params params;
  params.int8(epoch).int4s(users).int8s(windows).int8s(numbers).int8s(versions).int8s(ages);
  const auto rows =
      run(epoch_pool_, {.sql = statement("cache_flow_back"), .params = std::move(params)});
  if (!rows) return std::unexpected(rows.error());
  return {};
}

Result<std::vector<PastCache>> QuotaLeases::charge(std::span<const Charge> charges,
                                                   std::optional<Instant> now) {
  if (charges.empty()) return std::vector<PastCache>{};
  std::vector<std::int32_t> users;
  std::vector<std::int64_t> costs;
  for (const Charge& charge : charges) {
    users.push_back(charge.user.raw);
    costs.push_back(charge.cost);
  }
  const auto rows = run(pool_, {.sql = statement("cache_charge"),
                                .params = Params().int4s(users).int8s(costs).int8(epoch_us(now))});
  if (!rows) return std::unexpected(rows.error());
  const std::vector<std::int64_t> results = rows->integers(0, 0);
  const std::vector<std::int64_t> windows = rows->integers(0, 1);
  const std::vector<std::int64_t> waits = rows->integers(0, 2);
  if (results.size() != charges.size() || windows.size() != charges.size() ||
      waits.size() != charges.size()) {
    return fail(ErrorKind::corrupt, "postgres: gateway_charge_past_cache answers for others");
  }
  constexpr std::int64_t kLeased = 4;
  std::vector<PastCache> answers;
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if (results[i] == kLeased) {
      answers.push_back({.charged = {}, .leased = true});
      continue;
    }
    answers.push_back({.charged = {.result = static_cast<ChargeResult>(results[i]),
                                   .window = windows[i],
                                   .retry_after = Micros{waits[i]}}});
  }
  return answers;
}

Result<void> QuotaLeases::give_back(std::span<const GiveBack> charges) {
  if (charges.empty()) return {};
  std::vector<std::int32_t> users;
  std::vector<std::int64_t> costs;
  std::vector<std::int64_t> windows;
  for (const GiveBack& back : charges) {
    users.push_back(back.user.raw);
    costs.push_back(back.cost);
    windows.push_back(back.window);
  }
  const auto rows = run(pool_, {.sql = statement("cache_give_back"),
                                .params = Params().int4s(users).int8s(costs).int8s(windows)});
  if (!rows) return std::unexpected(rows.error());
  return {};
}

Result<CacheEpoch> QuotaLeases::state() {
  const auto rows = run(epoch_pool_, {.sql = statement("cache_state")});
  if (!rows) return std::unexpected(rows.error());
  CacheEpoch epoch = epoch_of(*rows);
  epoch.at = from_epoch_us(rows->int8(0, 4));
  return epoch;
}

Result<CacheEpoch> QuotaLeases::beat(std::string_view node, bool sees_cache, Millis term) {
  const auto rows = run(
      epoch_pool_,
      {.sql = statement("cache_beat"),
       .params = Params().text(node).boolean(sees_cache).int8(std::int64_t{Micros{term}.count()})});
  if (!rows) return std::unexpected(rows.error());
  CacheEpoch epoch = epoch_of(*rows);
  epoch.joined = rows->boolean(0, 4);
  return epoch;
}

Result<CacheEpoch> QuotaLeases::close(std::int64_t epoch, std::string_view node) {
  const auto rows = run(
      epoch_pool_, {.sql = statement("cache_close"), .params = Params().int8(epoch).text(node)});
  if (!rows) return std::unexpected(rows.error());
  CacheEpoch closed = epoch_of(*rows);
  closed.wait = Micros{rows->int8(0, 4)};
  return closed;
}

Result<CacheEpoch> QuotaLeases::open(std::int64_t after, std::string_view node,
                                     std::string_view token, Millis term) {
  const auto rows = run(epoch_pool_, {.sql = statement("cache_open"),
                                      .params = Params().int8(after).text(node).text(token).int8(
                                          std::int64_t{Micros{term}.count()})});
  if (!rows) return std::unexpected(rows.error());
  CacheEpoch opened = epoch_of(*rows);
  opened.joined = rows->boolean(0, 4);
  return opened;
}

Result<void> QuotaLeases::leave(std::string_view node) {
  const auto rows =
      run(epoch_pool_, {.sql = statement("cache_leave"), .params = Params().text(node)});
  if (!rows) return std::unexpected(rows.error());
  return {};
}

}  // namespace penstock::store::postgres
