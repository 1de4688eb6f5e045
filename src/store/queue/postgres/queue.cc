#include "store/queue/postgres/queue.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace penstock::store::postgres {
namespace {

// The columns of claim_items.
enum ClaimColumn : int {
  kClaimItem,
  kClaimScheduled,
  kClaimRetries,
  kClaimAttempts,
  kContext,
  kClaimDue,
  kClaimBatchNumber,
  kNextDue,
  kOldestClaim,
  kMoment,
  kPassed,
  kAsked,
};

std::int32_t int4_of(std::size_t number) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  return static_cast<std::int32_t>(std::min(number, kMost));
}

std::int64_t int8_of_token(FencingToken token) { return static_cast<std::int64_t>(token); }

// One claim as the database answered: its items, and what the hints learn from it.
struct ReadClaim {
  Claim claim;
  std::vector<std::int64_t> due_us;
  ClaimHints::Report report;
};

ReadClaim read_claim(const ClaimRequest& request, const Rows& rows) {
  ReadClaim read;
  const int last = rows.size() - 1;  // tells of the whole
  read.claim.items.reserve(static_cast<std::size_t>(last));
  const auto whole = rows[last];
  for (int i = 0; i < last; ++i) {
    const auto row = rows[i];
    read.claim.items.push_back({.id = ItemId::trusted(row[kClaimItem]),
                                .scheduled = row[kClaimScheduled],
                                .retry_count = row[kClaimRetries],
                                .attempts = row[kClaimAttempts],
                                .context = row[kContext]});
    read.due_us.push_back(row[kClaimDue]);
  }
  if (!whole[kClaimBatchNumber].null()) read.claim.batch_id = batch_name(whole[kClaimBatchNumber]);
  read.claim.next_due = whole[kNextDue].maybe<Instant>();
  const std::size_t asked = whole[kAsked];
  const bool full = read.claim.items.size() >= asked;
  if (full && asked < request.limit && !read.due_us.empty()) {
    read.claim.next_due = from_epoch_us(read.due_us.back());  // more are as due as this one
  }
  const std::int64_t moment = whole[kMoment];
  read.report = {.passed = whole[kPassed] && request.limit > 0,
                 .place = {.due_us = moment + Micros{request.early}.count() + 1, .id = {}},
                 .oldest_claim_us = whole[kOldestClaim].maybe<std::int64_t>(),
                 .claimed_any = !read.claim.items.empty(),
                 .moment_us = moment};
  if (full && !read.claim.items.empty()) {
    read.report.place = {.due_us = read.due_us.back(), .id = read.claim.items.back().id.str()};
  }
  return read;
}

// Which settlements are sent: each item once, ascending.
std::vector<std::size_t> in_order(std::span<const Settlement> items) {
  std::vector<std::size_t> places(items.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, [&](std::size_t a, std::size_t b) {
    return std::tie(items[a].id, a) < std::tie(items[b].id, b);
  });
  const auto rest = std::ranges::unique(
      places, [&](std::size_t a, std::size_t b) { return items[a].id == items[b].id; });
  places.erase(rest.begin(), rest.end());
  return places;
}

// The batch of which all are done; 0 = it is not so simple.
std::int64_t done_batch(std::span<const Settlement> items) {
  const bool simple = std::ranges::all_of(items, [&](const Settlement& each) {
    return each.outcome == Outcome::done && each.batch_id == items.front().batch_id;
  });
  return simple ? batch_of(items.front().batch_id) : 0;
}

Call settle_call(const SettleRequest& request, const std::vector<std::size_t>& places,
                 ClaimHints& hints, std::optional<Instant> now) {
  const std::int64_t batch = done_batch(request.items);
  const auto of = [&](auto member) {
    return [&request, member](std::size_t place) -> decltype(auto) {
      return std::invoke(member, request.items[place]);
    };
  };
  const auto ids = column(places, of(&Settlement::id));
  const auto details = column(places, [&](std::size_t place) {
    return std::string_view(request.items[place].detail).substr(0, kDetailBytesMax);
  });
  const std::vector<std::int64_t> stand = hints.take_places(request.type, ids);
  // Of a batch of which all are done the rest is known.
  const std::vector<std::size_t> rest = batch > 0 ? std::vector<std::size_t>() : places;
  const auto outcomes = column(rest, [&](std::size_t place) {
    return static_cast<std::int32_t>(request.items[place].outcome);
  });
  return call("settle_items", request.type, int8_of_token(request.token), request.retries_max, ids,
              Bytes{details}, batch > 0 ? std::optional(batch) : std::nullopt, stand, outcomes,
              column(rest, of(&Settlement::not_before)), column(rest, of(&Settlement::batch_id)),
              now);
}

}  // namespace

Result<Claim> Queue::claim(const ClaimRequest& request, std::optional<Instant> now) {
  const ClaimHints::RoundHandle round = hints_.begin(request, now);
  const std::optional<QueuePlace> from = round->from;
  const auto rows =
      database_.ask("claim_items", request.type, int8_of_token(request.token),
                    int4_of(request.limit), Micros{request.early}, Micros{request.stale},
                    request.retries_max, now, from ? std::optional(from->due_us) : std::nullopt,
                    from ? from->id : std::string(), request.bytes);
  if (!rows || rows->size() == 0) {
    hints_.end(request, round, std::nullopt);
    if (!rows) return std::unexpected(rows.error());
    return fail(ErrorKind::conflict, "another node dispatches this type by now");
  }
  ReadClaim read = read_claim(request, *rows);
  hints_.remember(request.type, read.claim.items, read.due_us);
  hints_.end(request, round, read.report);
  return std::move(read.claim);
}

Result<std::vector<bool>> Queue::settle(const SettleRequest& request, std::optional<Instant> now) {
  std::vector<bool> moved(request.items.size(), false);
  if (request.items.empty()) return moved;
  const std::vector<std::size_t> places = in_order(request.items);
  const Call calls[] = {settle_call(request, places, hints_, now)};
  auto answers = database_.ask_all(calls);
  // Whatever the answer was, items may be back, none of them before this.
  std::int64_t back_us = std::numeric_limits<std::int64_t>::max();
  for (const Settlement& each : request.items) {
    if (each.outcome != Outcome::failed && each.outcome != Outcome::give_back) continue;
    back_us = std::min(back_us, epoch_us(each.not_before));
  }
  hints_.lower(request.type, back_us);
  const std::vector<Rows> rows = PENSTOCK_TRY(std::move(answers));
  for (const std::int64_t place : rows.front().integers(0, 0)) {
    moved[places[static_cast<std::size_t>(place) - 1]] = true;
  }
  return moved;
}

Result<ItemView> Queue::change(std::string_view statement, const ItemType& type, const ItemId& id,
                               std::optional<Instant> now) {
  Call calls[] = {call(statement, type, id, now), call("find_item", type, id)};
  Connection::in_one(calls);
  const std::vector<Rows> rows = PENSTOCK_TRY(database_.ask_all(calls));
  const int outcome = rows[0][0][0];
  if (outcome == 0 || rows[1].empty()) {
    return fail(ErrorKind::not_found, "there is no such item");
  }
  ItemView view = item_story(type, id, rows[1]);
  if (outcome == 1) {
    return fail(ErrorKind::conflict,
                "the item is " + std::string(core::item_state_name(view.state)));
  }
  return view;
}

Result<ItemView> Queue::cancel(const ItemType& type, const ItemId& id, std::optional<Instant> now) {
  return change("cancel_item", type, id, now);
}

Result<ItemView> Queue::redrive(const ItemType& type, const ItemId& id,
                                std::optional<Instant> now) {
  ItemView view = PENSTOCK_TRY(change("redrive_item", type, id, now));
  const std::int64_t due_us = epoch_us(view.audit.back().at);
  hints_.lower(type, due_us);
  // It is there and durable; a dispatcher that hears nothing looks by itself.
  std::ignore = database_.ask("announce_items", std::vector<std::string_view>{type.str()},
                              std::vector{due_us}, std::int64_t{0}, due_us);
  return view;
}

Result<std::optional<ItemView>> Queue::find(const ItemType& type, const ItemId& id) {
  const Rows rows = PENSTOCK_TRY(database_.ask("find_item", type, id));
  if (rows.empty()) return std::nullopt;
  return item_story(type, id, rows);
}

Result<QueueSummary> Queue::summary(const ItemType& type) {
  const QueuePlace from = hints_.first_place(type);
  const Rows rows = PENSTOCK_TRY(database_.ask("sum_items", type, from.due_us, from.id));
  QueueSummary summary;
  if (rows.empty()) return summary;
  for (std::size_t i = 0; i < core::kItemStates; ++i) {
    const std::int64_t count = rows[0][static_cast<int>(i)];
    summary.counts[i] = static_cast<std::uint64_t>(std::max<std::int64_t>(0, count));
  }
  summary.oldest_due = rows[0][core::kItemStates].maybe<Instant>();
  return summary;
}

Result<std::vector<DeadItem>> Queue::dead(const ItemType& type,
                                          const std::optional<DeadPlace>& after,
                                          std::size_t limit) {
  const Rows rows = PENSTOCK_TRY(database_.ask(
      "list_dead", type, after ? epoch_us(after->died) : std::numeric_limits<std::int64_t>::max(),
      after ? after->id.str() : std::string(), std::min<std::size_t>(limit, 1 << 30)));
  return rows.map([](auto row) {
    return DeadItem{.id = ItemId::trusted(row[0]),
                    .died = row[1],
                    .scheduled = row[2],
                    .attempts = row[3],
                    .last_error = row[4]};
  });
}

Result<std::size_t> Queue::forget(const ItemType& type, Instant before, std::size_t limit) {
  const Rows rows = PENSTOCK_TRY(
      database_.ask("forget_items", type, before, std::min<std::size_t>(limit, 1 << 30)));
  return rows[0][0].as<std::size_t>();
}

void Earliest::add(const ItemType& type, Instant due) {
  const auto found = std::ranges::find(types, std::string_view(type.str()));
  if (found == types.end()) {
    types.emplace_back(type.str());
    due_us.push_back(epoch_us(due));
  } else {
    std::int64_t& known = due_us[static_cast<std::size_t>(found - types.begin())];
    known = std::min(known, epoch_us(due));
  }
}

void Earliest::lower(ClaimHints& hints) const {
  for (std::size_t i = 0; i < types.size(); ++i) {
    hints.lower(ItemType::trusted(std::string(types[i])), due_us[i]);
  }
}

Call Earliest::announcement(std::optional<Instant> now) const {
  return call("announce_items", types, due_us, kAnnounceWithin, now);
}

void ItemNews::subscribe(Listener listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void ItemNews::heard(std::string_view payload) {
  const std::size_t space = payload.find(' ');
  if (space == std::string_view::npos) return missed();  // not from us
  std::int64_t due_us = 0;
  const std::string_view due = payload.substr(space + 1);
  std::from_chars(due.data(), due.data() + due.size(), due_us);
  const ItemType type = ItemType::trusted(std::string(payload.substr(0, space)));
  hints_.lower(type, due_us);
  tell(type);
}

void ItemNews::missed() {
  hints_.forget();
  tell(std::nullopt);
}

void ItemNews::tell(const std::optional<ItemType>& type) {
  const std::lock_guard lock(mutex_);
  if (listener_) listener_(type);
}

namespace {

class Leases final : public LeaseStore {
 public:
  explicit Leases(Database database) : database_(database) {}

  Result<std::optional<Lease>> acquire(const LeaseRequest& request,
                                       std::optional<Instant> now) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("acquire_lease", request.type, request.node,
                                                 request.term, request.paused_until, now));
    if (rows.empty()) return std::nullopt;
    return Lease{.token = rows[0][0], .fresh = rows[0][1], .paused_until = rows[0][2]};
  }
  Result<void> release(const ItemType& type, std::string_view node) override {
    return database_.tell("release_lease", type, node);
  }
  Result<LeaseView> view(const ItemType& type, std::optional<Instant> now) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("view_lease", type, now));
    if (rows.empty()) return LeaseView{};
    return LeaseView{.holder = rows[0][0].maybe<std::string>(), .paused_until = rows[0][1]};
  }

 private:
  Database database_;
};

}  // namespace

std::unique_ptr<LeaseStore> make_leases(Database database) {
  return std::make_unique<Leases>(database);
}

}  // namespace penstock::store::postgres
