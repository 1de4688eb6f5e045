#include "store/slots/postgres/retention.h"

#include <string>
#include <utility>
#include <vector>

#include "store/slots/postgres/slots.h"

namespace penstock::store::postgres {

Result<std::size_t> Retention::slots_step(const PruneOptions& options, const Sink& sink) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const Call take[] = {{.sql = statement("begin"), .params = {}, .commit = false},
                       {.sql = statement("prune_slots"),
                        .params = Params()
                                      .int8(to_epoch_millis(options.before))
                                      .int8(static_cast<std::int64_t>(options.step_slots))}};
  auto taken = (*lease)->run(take, deadline);
  if (!taken) {
    if (!(*lease)->broken()) std::ignore = (*lease)->run({.sql = statement("rollback")}, deadline);
    return std::unexpected(std::move(taken.error().error));
  }
  const Rows& rows = taken->back();
  Result<void> kept;
  if (sink && rows.size() > 0) {
    std::vector<Slot> slots;
    slots.reserve(static_cast<std::size_t>(rows.size()));
    for (int row = 0; row < rows.size(); ++row) {
      slots.push_back(slot_of(EventId::trusted(std::string(rows.text(row, 0))), rows, row));
    }
    kept = sink(slots);
  }
  // The sink took its own time; the commit gets a fresh deadline.
  auto ended =
      (*lease)->run({.sql = statement(kept ? "commit" : "rollback")}, runtime::Deadline(deadline_));
  if (!kept) return std::unexpected(std::move(kept.error()));
  if (!ended) return std::unexpected(std::move(ended.error().error));
  return static_cast<std::size_t>(rows.size());
}

Result<std::size_t> Retention::windows_step(const PruneOptions& options) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  auto rows = (*lease)->run({.sql = statement("prune_windows"),
                             .params = Params()
                                           .int8(to_epoch_millis(options.before))
                                           .int8(static_cast<std::int64_t>(options.step_slots))},
                            deadline);
  if (!rows) return std::unexpected(std::move(rows.error().error));
  return static_cast<std::size_t>(rows->int8(0, 0));
}

Result<PruneReport> Retention::prune(const PruneOptions& options, const Sink& sink,
                                     const std::function<bool()>& should_stop) {
  PENSTOCK_CHECK(options.step_slots > 0);
  const auto stop = [&] { return should_stop && should_stop(); };
  PruneReport report;
  for (;;) {
    if (stop()) return report;
    const Result<std::size_t> gone = slots_step(options, sink);
    if (!gone) return std::unexpected(gone.error());
    report.slots += *gone;
    if (*gone < options.step_slots) break;
  }
  for (;;) {
    if (stop()) return report;
    const Result<std::size_t> gone = windows_step(options);
    if (!gone) return std::unexpected(gone.error());
    report.windows += *gone;
    if (*gone < options.step_slots) break;
  }
  return report;
}

}  // namespace penstock::store::postgres
