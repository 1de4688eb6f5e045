#include "store/queue/postgres/queue.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "engine/postgres/calls.h"
#include "store/queue/postgres/item_story.h"

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

std::int64_t int8_of_bytes(std::size_t bytes) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(bytes, kMost));
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
  for (int row = 0; row < last; ++row) {
    read.claim.items.push_back({.id = ItemId::trusted(std::string(rows.text(row, kClaimItem))),
                                .scheduled = from_epoch_us(rows.int8(row, kClaimScheduled)),
                                .retry_count = rows.int4(row, kClaimRetries),
                                .attempts = rows.int4(row, kClaimAttempts),
                                .context = std::string(rows.text(row, kContext))});
    read.due_us.push_back(rows.int8(row, kClaimDue));
  }
  if (const auto batch = rows.maybe_int8(last, kClaimBatchNumber))
    read.claim.batch_id = batch_name(*batch);
  if (const auto next = rows.maybe_int8(last, kNextDue)) read.claim.next_due = from_epoch_us(*next);
  const auto asked = static_cast<std::size_t>(rows.int4(last, kAsked));
  const bool full = read.claim.items.size() >= asked;
  if (full && asked < request.limit && !read.due_us.empty()) {
    read.claim.next_due = from_epoch_us(read.due_us.back());  // more are as due as this one
  }
  read.report = {
      .passed = rows.boolean(last, kPassed) && request.limit > 0,
      .place = {.due_us = rows.int8(last, kMoment) + Micros{request.early}.count() + 1, .id = {}},
      .oldest_claim_us = rows.maybe_int8(last, kOldestClaim),
      .claimed_any = !read.claim.items.empty(),
      .moment_us = rows.int8(last, kMoment)};
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

Params settle_params(const SettleRequest& request, const std::vector<std::size_t>& places,
                     ClaimHints& hints, std::optional<Instant> now) {
  std::vector<std::string_view> ids, details, batches;
  std::vector<std::int32_t> outcomes;
  std::vector<std::int64_t> not_before;
  const std::int64_t batch = done_batch(request.items);
  for (const std::size_t place : places) {
    const Settlement& each = request.items[place];
    ids.emplace_back(each.id.str());
    details.push_back(std::string_view(each.detail).substr(0, kDetailBytesMax));
    if (batch > 0) continue;
    outcomes.push_back(static_cast<std::int32_t>(each.outcome));
    not_before.push_back(epoch_us(each.not_before));
    batches.emplace_back(each.batch_id);
  }
  const std::vector<std::int64_t> stand = hints.take_places(request.type, ids);
  Params params;
  params.text(request.type.str()).int8(int8_of_token(request.token)).int4(request.retries_max);
  params.texts(ids).byteas(details);
  params.int8(batch > 0 ? std::optional(batch) : std::nullopt).int8s(stand);
  params.int4s(outcomes).int8s(not_before).texts(batches).int8(epoch_us(now));
  return params;
}

}  // namespace

Result<Claim> Queue::claim(const ClaimRequest& request, std::optional<Instant> now) {
  const ClaimHints::RoundHandle round = hints_.begin(request, now);
  const std::optional<QueuePlace> from = round->from;
  Params params;
  params.text(request.type.str())
      .int8(int8_of_token(request.token))
      .int4(int4_of(request.limit))
      .int8(std::int64_t{Micros{request.early}.count()})
      .int8(std::int64_t{Micros{request.stale}.count()})
      .int4(request.retries_max)
      .int8(epoch_us(now))
      .int8(from ? std::optional(from->due_us) : std::nullopt)
      .text(from ? from->id : std::string())
      .int8(int8_of_bytes(request.bytes));
  const auto rows = run_call(pool_, {.sql = statement("claim_items"), .params = std::move(params)},
                             runtime::Deadline(deadline_));
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
  const auto rows = run_call(
      pool_,
      {.sql = statement("settle_items"), .params = settle_params(request, places, hints_, now)},
      runtime::Deadline(deadline_));
  // Whatever the answer was, items may be back, none of them before this.
  std::int64_t back_us = std::numeric_limits<std::int64_t>::max();
  for (const Settlement& each : request.items) {
    if (each.outcome != Outcome::failed && each.outcome != Outcome::give_back) continue;
    back_us = std::min(back_us, epoch_us(each.not_before));
  }
  hints_.lower(request.type, back_us);
  if (!rows) return std::unexpected(rows.error());
  for (const std::int64_t place : rows->integers(0, 0)) {
    moved[places[static_cast<std::size_t>(place) - 1]] = true;
  }
  return moved;
}

Result<ItemView> Queue::change(const SqlFile& sql, const ItemType& type, const ItemId& id,
                               std::optional<Instant> now) {
  const runtime::Deadline deadline(deadline_);
  const Call calls[] = {
      {.sql = sql,
       .params = Params().text(type.str()).text(id.str()).int8(epoch_us(now)),
       .commit = false},
      {.sql = statement("find_item"), .params = Params().text(type.str()).text(id.str())}};
  const auto rows = run_calls(pool_, calls, deadline);
  if (!rows) return std::unexpected(rows.error().error);
  const std::int32_t outcome = (*rows)[0].int4(0, 0);
  if (outcome == 0 || (*rows)[1].size() == 0) {
    return fail(ErrorKind::not_found, "there is no such item");
  }
  ItemView view = item_story(type, id, (*rows)[1]);
  if (outcome == 1) {
    return fail(ErrorKind::conflict,
                "the item is " + std::string(core::item_state_name(view.state)));
  }
  return view;
}

Result<ItemView> Queue::cancel(const ItemType& type, const ItemId& id, std::optional<Instant> now) {
  return change(statement("cancel_item"), type, id, now);
}

Result<ItemView> Queue::redrive(const ItemType& type, const ItemId& id,
                                std::optional<Instant> now) {
  Result<ItemView> view = change(statement("redrive_item"), type, id, now);
  if (!view) return view;
  const std::int64_t due_us = epoch_us(view->audit.back().at);
  hints_.lower(type, due_us);
  const std::string_view name = type.str();
  // It is there and durable; a dispatcher that hears nothing looks by itself.
  std::ignore = run_call(
      pool_,
      {.sql = statement("announce_items"),
       .params = Params().texts({&name, 1}).int8s({&due_us, 1}).int8(std::int64_t{0}).int8(due_us)},
      runtime::Deadline(deadline_));
  return view;
}

Result<std::optional<ItemView>> Queue::find(const ItemType& type, const ItemId& id) {
  const auto rows = run_call(
      pool_, {.sql = statement("find_item"), .params = Params().text(type.str()).text(id.str())},
      runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  if (rows->size() == 0) return std::nullopt;
  return item_story(type, id, *rows);
}

Result<QueueSummary> Queue::summary(const ItemType& type) {
  const QueuePlace from = hints_.first_place(type);
  const auto rows = run_call(pool_,
                             {.sql = statement("sum_items"),
                              .params = Params().text(type.str()).int8(from.due_us).text(from.id)},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  QueueSummary summary;
  if (rows->size() == 0) return summary;
  for (std::size_t i = 0; i < core::kItemStates; ++i) {
    summary.counts[i] =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, rows->int8(0, static_cast<int>(i))));
  }
  if (const auto due = rows->maybe_int8(0, core::kItemStates)) {
    summary.oldest_due = from_epoch_us(*due);
  }
  return summary;
}

Result<std::vector<DeadItem>> Queue::dead(const ItemType& type,
                                          const std::optional<DeadPlace>& after,
                                          std::size_t limit) {
  const auto rows = run_call(
      pool_,
      {.sql = statement("list_dead"),
       .params = Params()
                     .text(type.str())
                     .int8(after ? epoch_us(after->died) : std::numeric_limits<std::int64_t>::max())
                     .text(after ? after->id.str() : std::string())
                     .int8(int8_of(std::min<std::size_t>(limit, 1 << 30)))},
      runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  std::vector<DeadItem> items;
  items.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) {
    items.push_back({.id = ItemId::trusted(std::string(rows->text(row, 0))),
                     .died = from_epoch_us(rows->int8(row, 1)),
                     .scheduled = from_epoch_us(rows->int8(row, 2)),
                     .attempts = rows->int4(row, 3),
                     .last_error = std::string(rows->text(row, 4))});
  }
  return items;
}

Result<std::size_t> Queue::forget(const ItemType& type, Instant before, std::size_t limit) {
  const auto rows = run_call(pool_,
                             {.sql = statement("forget_items"),
                              .params = Params()
                                            .text(type.str())
                                            .int8(epoch_us(before))
                                            .int8(int8_of(std::min<std::size_t>(limit, 1 << 30)))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return static_cast<std::size_t>(rows->int8(0, 0));
}

}  // namespace penstock::store::postgres
