// UsageExport on PostgreSQL: one statement for each call. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/quota/ports.h"

namespace penstock::store::postgres {

class UsageExportRows final : public UsageExport {
 public:
  // `pool` must outlive this. `deadline` bounds each call.
  UsageExportRows(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<std::vector<UserMinute>> page(Instant from, Instant to, std::optional<UsageMark> after,
                                       std::size_t limit) override;
  Result<Turn> take_turn(std::string_view name, std::string_view node, Millis term,
                         std::optional<Instant> now) override;
  Result<bool> set_done_to(std::string_view name, std::string_view node, Instant done_to) override;

 private:
  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
