#include <string>
#include <utility>

#include "store/slots/postgres/slots.h"

namespace penstock::store::postgres {
namespace {

class Configs final : public SlotConfigStore {
 public:
  explicit Configs(Database database) : database_(database) {}

  Result<std::optional<core::SlotConfig>> find(const ConfigName& name) override {
    std::vector<core::SlotConfig> found = PENSTOCK_TRY(read("find_config", name));
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  }
  Result<std::vector<core::SlotConfig>> history(const ConfigName& name,
                                                std::size_t limit) override {
    return read("config_history", name, limit);
  }
  Result<std::vector<core::SlotConfig>> list(const ConfigName& after, std::size_t limit) override {
    return read("list_configs", after, limit);
  }

  Result<SlotConfigChange> put(const core::SlotConfigDraft& draft,
                               std::optional<Instant> now) override {
    PENSTOCK_TRY(core::validate(draft));
    const PoolName pool = draft.pool.empty() ? PoolName::trusted(draft.name.str()) : draft.pool;
    const Rows rows = PENSTOCK_TRY(database_.insist("put_config", draft.name, pool,
                                                    static_cast<std::int32_t>(draft.max_per_window),
                                                    std::int64_t{draft.window_size.count()}, now));
    const auto row = rows[0];
    if (!row[0].null()) return fail(ErrorKind::conflict, row[0]);
    SlotConfigChange change{.current = {.name = draft.name,
                                        .pool = pool,
                                        .max_per_window = draft.max_per_window,
                                        .window_size = draft.window_size,
                                        .version = row[1],
                                        .active = true,
                                        .effective_from = row[2]},
                            .previous = std::nullopt};
    if (!row[6].null()) {
      change.previous = core::SlotConfig{.name = draft.name,
                                         .pool = PoolName::trusted(row[3]),
                                         .max_per_window = row[4],
                                         .window_size = Millis{row[5].as<std::int64_t>()},
                                         .version = row[6],
                                         .active = false,
                                         .effective_from = row[7]};
    }
    return change;
  }

 private:
  static core::SlotConfig config_of(Rows::Row row) {
    return {.name = ConfigName::trusted(row[0]),
            .pool = PoolName::trusted(row[1]),
            .max_per_window = row[2],
            .window_size = Millis{row[3].as<std::int64_t>()},
            .version = row[4],
            .active = row[5],
            .effective_from = row[6]};
  }

  template <class... Values>
  Result<std::vector<core::SlotConfig>> read(std::string_view name, const Values&... values) {
    const Rows rows = PENSTOCK_TRY(database_.insist(name, values...));
    return rows.map(config_of);
  }

  Database database_;
};

}  // namespace

std::unique_ptr<SlotConfigStore> make_configs(Database database) {
  return std::make_unique<Configs>(database);
}

}  // namespace penstock::store::postgres
