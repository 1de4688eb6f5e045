#include <string>
#include <utility>

#include "store/slots/postgres/slots.h"
#include "wire/described.h"

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
    PENSTOCK_TRY(check_record(draft));
    core::SlotConfig made = core::config_of(draft, 0, /*active=*/true, {});
    const Rows rows = PENSTOCK_TRY(database_.insist(
        "put_config", made.name, made.pool, static_cast<std::int32_t>(made.max_per_window),
        std::int64_t{made.window_size.count()}, wire::to_document(core::draft_of(made)), now));
    const auto row = rows[0];
    if (!row[0].null()) return fail(ErrorKind::conflict, row[0]);
    made.version = row[1].as<std::int64_t>();
    made.effective_from = row[2].as<Instant>();
    SlotConfigChange change{.current = std::move(made), .previous = std::nullopt};
    if (!row[3].null()) {
      core::SlotConfig previous = PENSTOCK_TRY(config_at(row, 3));
      change.previous = std::move(previous);
    }
    return change;
  }

 private:
  // A version: its number, whether it is the active one, since when, and the document of its draft.
  static Result<core::SlotConfig> config_at(Rows::Row row, int column) {
    core::SlotConfigDraft draft =
        PENSTOCK_TRY(wire::from_document<core::SlotConfigDraft>(row[column + 3]));
    return core::config_of(std::move(draft), row[column], row[column + 1], row[column + 2]);
  }

  template <class... Values>
  Result<std::vector<core::SlotConfig>> read(std::string_view name, const Values&... values) {
    const Rows rows = PENSTOCK_TRY(database_.insist(name, values...));
    std::vector<core::SlotConfig> configs;
    for (const auto row : rows) {
      core::SlotConfig config = PENSTOCK_TRY(config_at(row, 0));
      configs.push_back(std::move(config));
    }
    return configs;
  }

  Database database_;
};

}  // namespace

std::unique_ptr<SlotConfigStore> make_configs(Database database) {
  return std::make_unique<Configs>(database);
}

}  // namespace penstock::store::postgres
