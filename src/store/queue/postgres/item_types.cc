#include <string>
#include <utility>

#include "store/queue/postgres/queue.h"
#include "wire/described.h"

namespace penstock::store::postgres {
namespace {

// The columns of find_settings.sql.
Result<ItemTypeRecord> record_of(Rows::Row row) {
  core::ItemTypeSettings settings =
      PENSTOCK_TRY(wire::from_document<core::ItemTypeSettings>(row[3]));
  return ItemTypeRecord{.type = ItemType::trusted(row[0]),
                        .version = row[1],
                        .settings = std::move(settings),
                        .changed = row[2]};
}

class ItemTypes final : public ItemTypeStore {
 public:
  explicit ItemTypes(Database database) : database_(database) {}

  Result<ItemTypeRecord> put(const ItemType& type, std::int64_t expected,
                             const core::ItemTypeSettings& settings,
                             std::optional<Instant> now) override {
    PENSTOCK_TRY(check_record(settings));
    Call calls[] = {call("lock_settings"),
                    call("put_settings", type, expected, now, wire::to_document(settings))};
    Connection::in_one(calls);
    const auto answers = PENSTOCK_TRY(database_.ask_all(calls));
    const Rows& put = answers.back();
    if (put.empty()) return fail(ErrorKind::conflict, "the settings were changed meanwhile");
    return ItemTypeRecord{
        .type = type, .version = expected + 1, .settings = settings, .changed = put[0][0]};
  }
  Result<std::optional<ItemTypeRecord>> find(const ItemType& type) override {
    std::vector<ItemTypeRecord> newest = PENSTOCK_TRY(history(type, 1));
    if (newest.empty()) return std::nullopt;
    return std::move(newest.front());
  }
  Result<std::vector<ItemTypeRecord>> list() override { return read("list_settings"); }
  Result<std::vector<ItemTypeRecord>> history(const ItemType& type, std::size_t limit) override {
    return read("find_settings", type, limit);
  }
  Result<std::uint64_t> revision() override {
    const Rows rows = PENSTOCK_TRY(database_.ask("settings_revision"));
    return rows[0][0].as<std::uint64_t>();
  }

 private:
  template <class... Values>
  Result<std::vector<ItemTypeRecord>> read(std::string_view name, const Values&... values) {
    const Rows rows = PENSTOCK_TRY(database_.ask(name, values...));
    std::vector<ItemTypeRecord> records;
    for (const Rows::Row row : rows) records.push_back(PENSTOCK_TRY(record_of(row)));
    return records;
  }

  Database database_;
};

}  // namespace

std::unique_ptr<ItemTypeStore> make_item_types(Database database) {
  return std::make_unique<ItemTypes>(database);
}

}  // namespace penstock::store::postgres
