#include "store/slots/postgres/configs.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "engine/postgres/calls.h"

namespace penstock::store::postgres {
namespace {

constexpr int kConfigAttempts = 4;

core::SlotConfig config_of(const Rows& rows, int row) {
  return {.name = ConfigName::trusted(std::string(rows.text(row, 0))),
          .pool = PoolName::trusted(std::string(rows.text(row, 1))),
          .max_per_window = rows.int4(row, 2),
          .window_size = Millis{rows.int8(row, 3)},
          .version = rows.int8(row, 4),
          .active = rows.boolean(row, 5),
          .effective_from = Instant{Micros{rows.int8(row, 6)}}};
}

}  // namespace

DatabaseResult<Rows> Configs::run(const Call& call) {
  const runtime::Deadline deadline(deadline_);
  for (int tried = 1;; ++tried) {
    auto lease = pool_.acquire(deadline);
    if (!lease) return std::unexpected(std::move(lease.error()));
    auto rows = (*lease)->run(call, deadline);
    if (rows || !worth_repeating(rows.error()) || tried == kConfigAttempts || deadline.passed()) {
      return rows;
    }
  }
}

Result<std::vector<core::SlotConfig>> Configs::read(const Call& call) {
  const auto rows = run(call);
  if (!rows) return std::unexpected(rows.error().error);
  std::vector<core::SlotConfig> configs;
  for (int row = 0; row < rows->size(); ++row) configs.push_back(config_of(*rows, row));
  return configs;
}

Result<std::optional<core::SlotConfig>> Configs::find(const ConfigName& name) {
  auto found = read({.sql = statement("find_config"), .params = Params().text(name.str())});
  if (!found) return std::unexpected(std::move(found.error()));
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<SlotConfigChange> Configs::put(const core::SlotConfigDraft& draft,
                                      std::optional<Instant> now) {
  if (Result<void> valid = core::validate(draft); !valid) return std::unexpected(valid.error());
  const PoolName pool = draft.pool.empty() ? PoolName::trusted(draft.name.str()) : draft.pool;
  const auto rows = run(
      {.sql = statement("put_config"),
       .params = Params()
                     .text(draft.name.str())
                     .text(pool.str())
                     .int4(static_cast<std::int32_t>(draft.max_per_window))
                     .int8(draft.window_size.count())
                     .int8(now ? std::optional(now->time_since_epoch().count()) : std::nullopt)});
  if (!rows) return std::unexpected(rows.error().error);
  if (!rows->null(0, 0)) return fail(ErrorKind::conflict, std::string(rows->text(0, 0)));
  SlotConfigChange change{.current = {.name = draft.name,
                                      .pool = pool,
                                      .max_per_window = draft.max_per_window,
                                      .window_size = draft.window_size,
                                      .version = rows->int8(0, 1),
                                      .active = true,
                                      .effective_from = Instant{Micros{rows->int8(0, 2)}}},
                          .previous = std::nullopt};
  if (!rows->null(0, 6)) {
    change.previous = core::SlotConfig{.name = draft.name,
                                       .pool = PoolName::trusted(std::string(rows->text(0, 3))),
                                       .max_per_window = rows->int4(0, 4),
                                       .window_size = Millis{rows->int8(0, 5)},
                                       .version = rows->int8(0, 6),
                                       .active = false,
                                       .effective_from = Instant{Micros{rows->int8(0, 7)}}};
  }
  return change;
}

Result<std::vector<core::SlotConfig>> Configs::history(const ConfigName& name, std::size_t limit) {
  return read({.sql = statement("config_history"),
               .params = Params().text(name.str()).int8(int8_of(limit))});
}

Result<std::vector<core::SlotConfig>> Configs::list(const ConfigName& after, std::size_t limit) {
  return read({.sql = statement("list_configs"),
               .params = Params().text(after.str()).int8(int8_of(limit))});
}

}  // namespace penstock::store::postgres
