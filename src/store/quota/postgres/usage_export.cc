#include "store/quota/postgres/usage_export.h"

#include <algorithm>
#include <utility>

#include "engine/postgres/calls.h"

namespace penstock::store::postgres {

Result<std::vector<UserMinute>> UsageExportRows::page(Instant from, Instant to,
                                                      std::optional<UsageMark> after,
                                                      std::size_t limit) {
  // Behind the last user of the minute before: there is none of a negative number.
  UsageMark mark{.minute = minute_of(from), .user = UserId{-1}};
  if (after) mark = std::max(mark, *after);
  const auto rows = run_call(pool_,
                             {.sql = statement("usage_page"),
                              .params = Params()
                                            .int8(epoch_us(mark.minute))
                                            .int4(mark.user.raw)
                                            .int8(epoch_us(to))
                                            .int8(int8_of(limit))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  std::vector<UserMinute> minutes;
  minutes.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) {
    minutes.push_back({.user = UserId{rows->int4(row, 1)},
                       .minute = from_epoch_us(rows->int8(row, 0)),
                       .counts = {.sent = rows->int8(row, 2),
                                  .limited = rows->int8(row, 3),
                                  .failed = rows->int8(row, 4)}});
  }
  return minutes;
}

Result<UsageExport::Turn> UsageExportRows::take_turn(std::string_view name, std::string_view node,
                                                     Millis term, std::optional<Instant> now) {
  const auto rows = run_call(pool_,
                             {.sql = statement("take_export_turn"),
                              .params = Params()
                                            .text(name)
                                            .text(node)
                                            .int8(std::int64_t{Micros{term}.count()})
                                            .int8(epoch_us(now))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  if (rows->size() == 0) return Turn{};
  Turn turn{.mine = true, .done_to = std::nullopt};
  if (!rows->null(0, 0)) turn.done_to = from_epoch_us(rows->int8(0, 0));
  return turn;
}

Result<bool> UsageExportRows::set_done_to(std::string_view name, std::string_view node,
                                          Instant done_to) {
  const auto rows = run_call(pool_,
                             {.sql = statement("set_export_done"),
                              .params = Params().text(name).text(node).int8(epoch_us(done_to))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return rows->size() > 0;
}

}  // namespace penstock::store::postgres
