#include <string_view>
#include <utility>

#include "core/gateway/message.h"
#include "store/queue/postgres/item_columns.h"
#include "store/quota/postgres/quotas.h"

namespace penstock::store::postgres {
namespace {

class PostgresSendKeys final : public SendKeys {
 public:
  explicit PostgresSendKeys(Database database) : database_(database) {}

  Result<std::vector<KeyView>> look(std::span<const KeyClaim> keys, Millis live,
                                    std::optional<Instant> now) override {
    if (keys.empty()) return std::vector<KeyView>{};
    const Rows rows = PENSTOCK_TRY(database_.ask("look_at_keys", users_of(keys), names_of(keys),
                                                 digests_of(keys), live, core::key_term(now), now));
    if (static_cast<std::size_t>(rows.size()) != keys.size()) return other_keys("look_at_keys");
    return rows.map([](auto row) {
      KeyView view{.state = row[0]};
      if (view.state == KeyState::accepted || view.state == KeyState::left) {
        view.id = ItemId::trusted(row[1]);
      }
      return view;
    });
  }

  Result<std::vector<KeyView>> claim(std::span<const KeyClaim> keys, Millis live,
                                     std::optional<Instant> now) override {
    if (keys.empty()) return std::vector<KeyView>{};
    const Rows rows =
        PENSTOCK_TRY(database_.ask("claim_keys", users_of(keys), names_of(keys), digests_of(keys),
                                   column(keys, &KeyClaim::id), live, core::key_term(now), now));
    const std::vector<std::int64_t> states = rows.integers(0, 0);
    const std::vector<std::int64_t> stamps = rows.integers(0, 1);
    if (states.size() != keys.size() || stamps.size() != keys.size()) {
      return other_keys("claim_keys");
    }
    std::vector<KeyView> views;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      KeyView view{.state = static_cast<KeyState>(states[i]), .claim = stamps[i]};
      if (view.state == KeyState::free) view.id = keys[i].id;
      views.push_back(std::move(view));
    }
    const std::vector<std::int64_t> places = rows.integers(0, 2);
    const std::vector<std::string_view> ids = rows.texts(0, 3);
    for (std::size_t i = 0; i < places.size(); ++i) {
      views[static_cast<std::size_t>(places[i] - 1)].id = ItemId::trusted(std::string(ids[i]));
    }
    return views;
  }

  Result<std::vector<bool>> settle(std::span<const KeySettlement> keys,
                                   std::optional<Instant> now) override {
    if (keys.empty()) return std::vector<bool>{};
    const Rows rows = PENSTOCK_TRY(database_.ask(
        "settle_keys", users_of(keys), names_of(keys), column(keys, &KeySettlement::claim),
        column(keys, [](const auto& key) { return static_cast<std::int32_t>(key.end); }), now));
    std::vector<bool> mine(keys.size());
    for (const auto row : rows) mine[row[0].as<std::size_t>() - 1] = true;
    return mine;
  }

 private:
  static std::vector<std::string_view> names_of(const auto& keys) {
    return column(keys, [](const auto& key) { return std::string_view(key.key); });
  }
  static Bytes digests_of(std::span<const KeyClaim> keys) {
    return {column(keys, [](const KeyClaim& key) { return bytes_of(key.digest); })};
  }

  static std::unexpected<Error> other_keys(std::string_view statement) {
    return fail(ErrorKind::corrupt,
                "postgres: " + std::string(statement) + " answers for other keys");
  }

  Database database_;
};

}  // namespace

std::unique_ptr<SendKeys> make_send_keys(Database database) {
  return std::make_unique<PostgresSendKeys>(database);
}

}  // namespace penstock::store::postgres
