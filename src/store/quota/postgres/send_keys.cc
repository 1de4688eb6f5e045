#include "store/quota/postgres/send_keys.h"

#include <string_view>
#include <utility>

#include "core/gateway/message.h"
#include "engine/postgres/calls.h"

namespace penstock::store::postgres {
namespace {

Params params_of(std::span<const KeyClaim> keys, bool with_ids) {
  std::vector<std::int32_t> users;
  std::vector<std::string_view> names;
  std::vector<std::string_view> digests;
  std::vector<std::string_view> ids;
  for (const KeyClaim& key : keys) {
    users.push_back(key.user.raw);
    names.emplace_back(key.key);
    digests.emplace_back(reinterpret_cast<const char*>(key.digest.data()), key.digest.size());
    ids.emplace_back(key.id.str());
  }
  Params params;
  params.int4s(users).texts(names).byteas(digests);
  if (with_ids) params.texts(ids);
  return params;
}

void add_times(Params& params, Millis live, std::optional<Instant> now) {
  params.int8(std::int64_t{Micros{live}.count()})
      .int8(std::int64_t{Micros{core::key_term(now)}.count()})
      .int8(epoch_us(now));
}

std::unexpected<Error> other_keys(std::string_view statement) {
  return fail(ErrorKind::corrupt,
              "postgres: " + std::string(statement) + " answers for other keys");
}

}  // namespace

Result<std::vector<KeyView>> PostgresSendKeys::look(std::span<const KeyClaim> keys, Millis live,
                                                    std::optional<Instant> now) {
  if (keys.empty()) return std::vector<KeyView>{};
  Params params = params_of(keys, false);
  add_times(params, live, now);
  const auto rows = run_call(pool_, {.sql = statement("look_at_keys"), .params = std::move(params)},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  if (static_cast<std::size_t>(rows->size()) != keys.size()) return other_keys("look_at_keys");
  std::vector<KeyView> views;
  views.reserve(keys.size());
  for (int row = 0; row < rows->size(); ++row) {
    KeyView view{.state = static_cast<KeyState>(rows->int4(row, 0))};
    if (view.state == KeyState::accepted || view.state == KeyState::left) {
      view.id = ItemId::trusted(std::string(rows->text(row, 1)));
    }
    views.push_back(std::move(view));
  }
  return views;
}

Result<std::vector<KeyView>> PostgresSendKeys::claim(std::span<const KeyClaim> keys, Millis live,
                                                     std::optional<Instant> now) {
  if (keys.empty()) return std::vector<KeyView>{};
  Params params = params_of(keys, true);
  add_times(params, live, now);
  const auto rows = run_call(pool_, {.sql = statement("claim_keys"), .params = std::move(params)},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  const std::vector<std::int64_t> states = rows->integers(0, 0);
  const std::vector<std::int64_t> stamps = rows->integers(0, 1);
  if (states.size() != keys.size() || stamps.size() != keys.size()) return other_keys("claim_keys");
  std::vector<KeyView> views;
  views.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    KeyView view{.state = static_cast<KeyState>(states[i]), .claim = stamps[i]};
    if (view.state == KeyState::free) view.id = keys[i].id;
    views.push_back(std::move(view));
  }
  const std::vector<std::int64_t> places = rows->integers(0, 2);
  const std::vector<std::string_view> ids = rows->texts(0, 3);
  for (std::size_t i = 0; i < places.size(); ++i) {
    views[static_cast<std::size_t>(places[i] - 1)].id = ItemId::trusted(std::string(ids[i]));
  }
  return views;
}

Result<std::vector<bool>> PostgresSendKeys::settle(std::span<const KeySettlement> keys,
                                                   std::optional<Instant> now) {
  if (keys.empty()) return std::vector<bool>{};
  std::vector<std::int32_t> users;
  std::vector<std::string_view> names;
  std::vector<std::int64_t> claims;
  std::vector<std::int32_t> ends;
  for (const KeySettlement& key : keys) {
    users.push_back(key.user.raw);
    names.emplace_back(key.key);
    claims.push_back(key.claim);
    ends.push_back(static_cast<std::int32_t>(key.end));
  }
  Params params;
  params.int4s(users).texts(names).int8s(claims).int4s(ends).int8(epoch_us(now));
  const auto rows = run_call(pool_, {.sql = statement("settle_keys"), .params = std::move(params)},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  std::vector<bool> mine(keys.size());
  for (int row = 0; row < rows->size(); ++row) {
    mine[static_cast<std::size_t>(rows->int8(row, 0) - 1)] = true;
  }
  return mine;
}

}  // namespace penstock::store::postgres
