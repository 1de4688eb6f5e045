// RetentionClock on PostgreSQL: the progress that all nodes share, in one row, by the database's
// clock.
#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/retention/progress.h"
#include "runtime/tick_clock.h"
#include "store/postgres/changes.h"

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

Call write_call(const core::Progress& progress) {
  return call("write_progress", column(progress.marks(), &core::TimeMark::wall),
              column(progress.marks(), [](const core::TimeMark& mark) {
                return std::int64_t{mark.progress.count()};
              }));
}

class ProgressRow final : public RetentionClock {
 public:
  explicit ProgressRow(Database database) : database_(database) {}

  Result<Instant> older_than(Millis keep) override {
    const std::lock_guard lock(mutex_);
    const runtime::Deadline deadline = database_.deadline();
    const auto lease = PENSTOCK_TRY(database_.pool().acquire(deadline));
    Transaction<Connection> transaction(*lease, deadline);
    const auto taken = PENSTOCK_TRY(transaction.begin({call("lock_progress")}));
    const Micros moment = runtime::monotonic_micros();
    core::Progress progress = PENSTOCK_TRY(read_progress(taken.back()));
    const Instant now = taken.back()[0][2];
    progress.advance(now, advanced_ ? moment - *advanced_ : Micros{0});
    PENSTOCK_TRY(transaction.commit({write_call(progress)}));
    advanced_ = moment;
    return progress.older_than(keep, now);
  }

 private:
  Database database_;
  std::mutex mutex_;                // held for a whole call
  std::optional<Micros> advanced_;  // by the monotonic clock of this node; guarded by mutex_
};

}  // namespace

std::unique_ptr<RetentionClock> make_retention_clock(Database database) {
  return std::make_unique<ProgressRow>(database);
}

}  // namespace penstock::store::postgres
