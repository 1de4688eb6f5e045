#include "store/limits/mariadb/limits.h"

#include <algorithm>
#include <utility>

#include "engine/mariadb/query.h"
#include "store/limits/mariadb/usage_session.h"

namespace penstock::store::mariadb {
namespace {

// Another node may hold one of the rows a moment too long.
constexpr int kAttempts = 4;

}  // namespace

void Limits::apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
                   std::span<Result<LimitAnswer>> answers) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) {
    std::ranges::fill(answers, Result<LimitAnswer>(std::unexpected(lease.error().error)));
    return;
  }
  MariadbUsage session(**lease, deadline);
  apply_in_transactions(session, requests, now, answers);
}

Result<bool> Limits::reset(std::string_view key) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  MariadbUsage session(**lease, deadline);
  for (int tried = 1;; ++tried) {
    const UsageResult<bool> gone = session.reset(key);
    if (gone) return *gone;
    if (!gone.error().repeat || tried == kAttempts) return std::unexpected(gone.error().error);
  }
}

Result<std::optional<KeyUse>> Limits::find(std::string_view key, std::optional<Instant> now) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  MariadbUsage session(**lease, deadline);
  return find_use(session, key, now);
}

Result<std::vector<KeyUse>> Limits::list(std::string_view after, std::size_t limit,
                                         std::optional<Instant> now) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto rows = (*lease)->run(Query(statement("list_usage"))
                                      .number(micros_of(now))
                                      .bytes(after)
                                      .number(micros_of(now))
                                      .number(limit_of(limit))
                                      .text(),
                                  deadline);
  if (!rows) return std::unexpected(rows.error().error);
  std::vector<KeyUse> uses;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    auto use =
        use_of(rows->text(row, 0), rows->text(row, 1), Instant{Micros{rows->number(row, 2)}});
    if (!use) return std::unexpected(std::move(use.error()));
    if (*use) uses.push_back(std::move(**use));
  }
  return uses;
}

Result<LimitSweep::Swept> Sweep::sweep(std::size_t keys, std::optional<Instant> now) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto rows = (*lease)->run(Query(statement("sweep_look"))
                                      .number(micros_of(now))
                                      .bytes(after_)
                                      .number(limit_of(keys))
                                      .text(),
                                  deadline);
  if (!rows) return std::unexpected(rows.error().error);
  std::vector<std::string_view> idle;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    if (rows->number(row, 1) != 0) idle.push_back(rows->text(row, 0));
  }
  if (!idle.empty()) {
    const auto dropped = (*lease)->run(
        Query(statement("sweep_drop")).list(idle).number(micros_of(now)).text(), deadline);
    if (!dropped) return std::unexpected(dropped.error().error);
  }
  Swept swept{.seen = rows->size(), .dropped = idle.size()};
  swept.round_done = swept.seen < keys;
  after_ = swept.round_done ? std::string() : std::string(rows->text(rows->size() - 1, 0));
  return swept;
}

}  // namespace penstock::store::mariadb
