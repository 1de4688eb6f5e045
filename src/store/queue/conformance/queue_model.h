// What a queue must do, as plainly as it can be said: a map of items. The oracle of the conformance
// suite, and the store of service tests. Thread-safe; items with a slot are not its business.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/queue/ports.h"

namespace penstock::store::conformance {

class QueueModel final : public QueueStore, public LeaseStore {
 public:
  explicit QueueModel(const Clock& clock) : clock_(clock) {}

  std::vector<Result<Enqueued>> enqueue(std::span<const NewItem> items,
                                        std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    std::vector<Result<Enqueued>> answers;
    for (const NewItem& item : items) answers.push_back(add(item, at(now)));
    return answers;
  }

  Result<Claim> claim(const ClaimRequest& request, std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    if (request.token < newest_token(request.type)) return old_token();
    tokens_[request.type] = request.token;
    const Instant moment = at(now);
    Claim claim{.batch_id = "batch-" + std::to_string(++batches_), .items = {}, .next_due = {}};
    std::vector<Item*> candidates;
    for (auto& [key, item] : items_) {
      if (key.first != request.type) continue;
      if (is_claimable(item, request, moment)) candidates.push_back(&item);
    }
    std::ranges::sort(candidates, {},
                      [](const Item* i) { return std::pair(i->view.due, i->view.id); });
    std::size_t bytes = 0;
    for (Item* item : candidates) {
      const bool heavy = !claim.items.empty() && bytes >= request.bytes;
      if (item->view.due > moment + request.early || claim.items.size() == request.limit || heavy) {
        claim.next_due = item->view.due;
        break;
      }
      const std::size_t before = claim.items.size();
      take(*item, request, moment, claim);
      if (claim.items.size() > before) bytes += claim.items.back().context.size();
    }
    if (claim.items.size() == request.limit) claim.next_due.reset();
    return claim;
  }

  Result<std::vector<bool>> settle(const SettleRequest& request,
                                   std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    std::vector<bool> moved;
    for (const Settlement& each : request.items) moved.push_back(settle(request, each, at(now)));
    return moved;
  }

  Result<ItemView> cancel(const ItemType& type, const ItemId& id,
                          std::optional<Instant> now) override {
    return change(type, id, ItemState::ready, ItemState::cancelled, "CANCELLED", at(now));
  }

  Result<ItemView> redrive(const ItemType& type, const ItemId& id,
                           std::optional<Instant> now) override {
    return change(type, id, ItemState::dead, ItemState::ready, "REDRIVEN", at(now));
  }

  Result<std::optional<ItemView>> find(const ItemType& type, const ItemId& id) override {
    const std::lock_guard lock(mutex_);
    const auto found = items_.find({type, id});
    if (found == items_.end()) return std::nullopt;
    return found->second.view;
  }

  Result<QueueSummary> summary(const ItemType& type) override {
    const std::lock_guard lock(mutex_);
    QueueSummary summary;
    for (const auto& [key, item] : items_) {
      if (key.first != type) continue;
      ++summary.counts[static_cast<std::size_t>(item.view.state)];
      if (item.view.state != ItemState::ready) continue;
      summary.oldest_due = std::min(summary.oldest_due.value_or(item.view.due), item.view.due);
    }
    return summary;
  }

  Result<std::vector<DeadItem>> dead(const ItemType& type, const std::optional<DeadPlace>& after,
                                     std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    std::vector<DeadItem> found;
    for (const auto& [key, item] : items_) {
      if (key.first != type || item.view.state != ItemState::dead) continue;
      if (after && std::tie(after->died, item.view.id) <= std::tie(item.settled, after->id)) {
        continue;
      }
      found.push_back({.id = item.view.id,
                       .died = item.settled,
                       .scheduled = item.view.scheduled,
                       .attempts = item.view.attempts,
                       .last_error = item.view.last_error});
    }
    std::ranges::sort(found, [](const DeadItem& a, const DeadItem& b) {
      return std::tie(b.died, a.id) < std::tie(a.died, b.id);
    });
    if (found.size() > limit) found.resize(limit);
    return found;
  }

  Result<std::size_t> forget(const ItemType& type, Instant before, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    return std::erase_if(items_, [&](const auto& entry) {
      return entry.first.first == type && core::is_settled(entry.second.view.state) &&
             entry.second.settled < before && limit > 0 && limit-- > 0;
    });
  }

  Result<std::optional<Lease>> acquire(const LeaseRequest& request,
                                       std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    Held& held = leases_[request.type];
    const Instant moment = at(now);
    const bool fresh = held.node != request.node;
    if (fresh && !held.node.empty() && moment < held.until) return std::nullopt;
    if (fresh) {
      ++held.token;
    } else {
      held.paused_until = request.paused_until;
    }
    held.node = request.node;
    held.until = moment + request.term;
    return Lease{.token = held.token, .fresh = fresh, .paused_until = held.paused_until};
  }

  Result<void> release(const ItemType& type, std::string_view node) override {
    const std::lock_guard lock(mutex_);
    if (leases_[type].node == node) leases_[type].node.clear();
    return {};
  }

  Result<LeaseView> view(const ItemType& type, std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    const Held& held = leases_[type];
    LeaseView view{.holder = std::nullopt, .paused_until = held.paused_until};
    if (!held.node.empty() && at(now) < held.until) view.holder = held.node;
    return view;
  }

 private:
  struct Item {
    ItemView view;
    Instant settled{};
    FencingToken token = 0;
    std::string context;
    BodyDigest digest{};
  };
  struct Held {
    std::string node;
    FencingToken token = 0;
    Instant until{};
    Instant paused_until{};
  };

  static std::unexpected<Error> old_token() {
    return fail(ErrorKind::conflict, "another node dispatches this type by now");
  }

  Instant at(std::optional<Instant> now) const { return now.value_or(clock_.now()); }
  FencingToken newest_token(const ItemType& type) { return tokens_[type]; }

  Enqueued add(const NewItem& item, Instant now) {
    const auto [place, fresh] = items_.try_emplace({item.type, item.id});
    Item& held = place->second;
    if (fresh) {
      held.view = {
          .type = item.type, .id = item.id, .scheduled = item.due, .created = now, .due = item.due};
      held.context = item.context;
      held.digest = item.digest;
      note(held, "ENQUEUED", std::nullopt, now, {}, {});
      return {EnqueueResult::created, ItemState::ready, item.due};
    }
    const EnqueueResult result = held.view.state == ItemState::cancelled ? EnqueueResult::cancelled
                                 : held.digest == item.digest            ? EnqueueResult::same
                                                                         : EnqueueResult::different;
    return {result, held.view.state, held.view.scheduled};
  }

  static bool is_claimable(const Item& item, const ClaimRequest& request, Instant now) {
    if (item.view.state == ItemState::ready) return true;
    if (item.view.state != ItemState::claimed) return false;
    return item.token < request.token || *item.view.claimed <= now - request.stale;
  }

  void take(Item& item, const ClaimRequest& request, Instant now, Claim& claim) {
    ItemView& view = item.view;
    const ItemState from = view.state;
    if (view.retry_count >= request.retries_max) {
      view.state = ItemState::dead;
      item.settled = now;
      note(item, "DEAD", from, now, claim.batch_id, "no retries left");
      return;
    }
    view.state = ItemState::claimed;
    view.claimed = now;
    view.batch_id = claim.batch_id;
    ++view.attempts;
    item.token = request.token;
    note(item, "CLAIMED", from, now, claim.batch_id, {});
    claim.items.push_back({.id = view.id,
                           .scheduled = view.scheduled,
                           .retry_count = view.retry_count,
                           .attempts = view.attempts,
                           .context = item.context});
  }

  bool settle(const SettleRequest& request, const Settlement& each, Instant now) {
    const auto found = items_.find({request.type, each.id});
    if (found == items_.end()) return false;
    Item& item = found->second;
    ItemView& view = item.view;
    if (view.state != ItemState::claimed || item.token != request.token) return false;
    const core::AfterOutcome after =
        core::after_outcome(each.outcome, view.retry_count, request.retries_max);
    view.state = after.state;
    view.retry_count = after.retry_count;
    // What was given back was not tried.
    if (each.outcome == Outcome::give_back) --view.attempts;
    if (each.outcome == Outcome::failed || each.outcome == Outcome::refused) {
      view.last_error = each.detail.substr(0, kDetailBytesMax);
    }
    if (view.state == ItemState::dispatched) view.dispatched = now;
    if (view.state == ItemState::ready) view.due = std::max(view.scheduled, each.not_before);
    if (core::is_settled(view.state)) item.settled = now;
    note(item, settle_action(each.outcome, view.state), ItemState::claimed, now, each.batch_id,
         each.detail.substr(0, kDetailBytesMax));
    return true;
  }

  static std::string settle_action(Outcome outcome, ItemState to) {
    if (outcome == Outcome::done) return "DISPATCHED";
    if (outcome == Outcome::give_back) return "RETURNED";
    return to == ItemState::dead ? "DEAD" : "DISPATCH_FAILED";
  }

  Result<ItemView> change(const ItemType& type, const ItemId& id, ItemState from, ItemState to,
                          std::string action, Instant now) {
    const std::lock_guard lock(mutex_);
    const auto found = items_.find({type, id});
    if (found == items_.end()) return fail(ErrorKind::not_found, "there is no such item");
    Item& item = found->second;
    if (item.view.state != from) {
      return fail(ErrorKind::conflict,
                  "the item is " + std::string(core::item_state_name(item.view.state)));
    }
    item.view.state = to;
    item.settled = now;
    if (to == ItemState::ready) {
      item.view.retry_count = 0;
      item.view.due = now;
    }
    note(item, std::move(action), from, now, {}, {});
    return item.view;
  }

  static void note(Item& item, std::string action, std::optional<ItemState> from, Instant now,
                   std::string batch_id, std::string detail) {
    item.view.audit.push_back({.at = now,
                               .action = std::move(action),
                               .from = from,
                               .to = item.view.state,
                               .batch_id = std::move(batch_id),
                               .detail = std::move(detail)});
  }

  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::pair<ItemType, ItemId>, Item> items_;  // guarded by mutex_
  std::map<ItemType, FencingToken> tokens_;            // guarded by mutex_
  std::map<ItemType, Held> leases_;                    // guarded by mutex_
  int batches_ = 0;                                    // guarded by mutex_
};

}  // namespace penstock::store::conformance
