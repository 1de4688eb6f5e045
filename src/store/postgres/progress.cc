#include "store/postgres/progress.h"

#include <tuple>
#include <utility>
#include <vector>

#include "core/retention/progress.h"
#include "engine/postgres/calls.h"
#include "runtime/tick_clock.h"

namespace penstock::store::postgres {
namespace {

Result<core::Progress> read_progress(const Rows& rows) {
  if (rows.size() != 1) {
    return fail(ErrorKind::corrupt, "table retention_progress has no row: restore it");
  }
  const std::vector<std::int64_t> walls = rows.integers(0, 0);
  const std::vector<std::int64_t> progress = rows.integers(0, 1);
  std::vector<core::TimeMark> marks;
  for (std::size_t i = 0; i < std::min(walls.size(), progress.size()); ++i) {
    marks.push_back({.wall = from_epoch_us(walls[i]), .progress = Micros{progress[i]}});
  }
  return core::Progress(std::move(marks));
}

Params params_of(const core::Progress& progress) {
  std::vector<std::int64_t> walls;
  std::vector<std::int64_t> counted;
  for (const core::TimeMark& mark : progress.marks()) {
    walls.push_back(epoch_us(mark.wall));
    counted.push_back(mark.progress.count());
  }
  return Params().int8s(walls).int8s(counted);
}

}  // namespace

Result<Instant> ProgressRow::older_than(Millis keep) {
  const std::lock_guard lock(mutex_);
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const Call take[] = {{.sql = statement("begin"), .params = {}, .commit = false},
                       {.sql = statement("lock_progress")}};
  auto taken = (*lease)->run(take, deadline);
  const Micros moment = runtime::monotonic_micros();
  Result<core::Progress> progress =
      taken ? read_progress(taken->back()) : std::unexpected(std::move(taken.error().error));
  if (!progress) {
    if (!(*lease)->broken()) std::ignore = (*lease)->run({.sql = statement("rollback")}, deadline);
    return std::unexpected(std::move(progress.error()));
  }
  const Instant now = from_epoch_us(taken->back().int8(0, 2));
  progress->advance(now, advanced_ ? moment - *advanced_ : Micros{0});
  const Call keep_it[] = {{.sql = statement("write_progress"), .params = params_of(*progress)},
                          {.sql = statement("commit")}};
  auto kept = (*lease)->run(keep_it, deadline);
  if (!kept) {
    if (!(*lease)->broken()) std::ignore = (*lease)->run({.sql = statement("rollback")}, deadline);
    return std::unexpected(std::move(kept.error().error));
  }
  advanced_ = moment;
  return progress->older_than(keep, now);
}

}  // namespace penstock::store::postgres
