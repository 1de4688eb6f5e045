#include "store/limits/postgres/limits.h"

#include <algorithm>
#include <utility>

#include "engine/postgres/calls.h"
#include "store/limits/postgres/usage_session.h"

namespace penstock::store::postgres {
namespace {

DatabaseResult<Rows> run(Pool& pool, Millis limit, const Call& call) {
  const runtime::Deadline deadline(limit);
  auto lease = pool.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error()));
  return (*lease)->run(call, deadline);
}

}  // namespace

void Limits::apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
                   std::span<Result<LimitAnswer>> answers) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) {
    std::ranges::fill(answers, Result<LimitAnswer>(std::unexpected(lease.error().error)));
    return;
  }
  PostgresUsage session(**lease, deadline);
  apply_in_transactions(session, requests, now, answers);
}

Result<bool> Limits::reset(std::string_view key) {
  const auto rows =
      run(pool_, deadline_, {.sql = statement("reset_usage"), .params = Params().bytea(key)});
  if (!rows) return std::unexpected(rows.error().error);
  return rows->size() > 0 && rows->boolean(0, 0);
}

Result<std::optional<KeyUse>> Limits::find(std::string_view key, std::optional<Instant> now) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  PostgresUsage session(**lease, deadline);
  return find_use(session, key, now);
}

Result<std::vector<KeyUse>> Limits::list(std::string_view after, std::size_t limit,
                                         std::optional<Instant> now) {
  const auto rows = run(
      pool_, deadline_,
      {.sql = statement("list_usage"),
       .params = Params().bytea(after).int8(static_cast<std::int64_t>(limit)).int8(epoch_us(now))});
  if (!rows) return std::unexpected(rows.error().error);
  std::vector<KeyUse> uses;
  for (int row = 0; row < rows->size(); ++row) {
    auto use = use_of(rows->text(row, 0), rows->text(row, 1), Instant{Micros{rows->int8(row, 2)}});
    if (!use) return std::unexpected(std::move(use.error()));
    if (*use) uses.push_back(std::move(**use));
  }
  return uses;
}

Result<LimitSweep::Swept> Sweep::sweep(std::size_t keys, std::optional<Instant> now) {
  const auto rows = run(
      pool_, deadline_,
      {.sql = statement("sweep_usage"),
       .params = Params().bytea(after_).int8(static_cast<std::int64_t>(keys)).int8(epoch_us(now))});
  if (!rows) return std::unexpected(rows.error().error);
  Swept swept{.seen = static_cast<std::size_t>(rows->int8(0, 0)),
              .dropped = static_cast<std::size_t>(rows->int8(0, 1))};
  swept.round_done = swept.seen < keys;
  after_ = swept.round_done ? std::string() : std::string(rows->text(0, 2));
  return swept;
}

}  // namespace penstock::store::postgres
