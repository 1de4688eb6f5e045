#include "core/dispatch/board.h"

#include <algorithm>
#include <iterator>

namespace penstock::core {

Millis claim_ahead(const ItemTypeSettings& settings, const SinkTraits& sink) {
  if (!sink.delays) return kFetchAhead;
  return std::max<Millis>(kFetchAhead, settings.pre_start_buffer);
}

DispatchBoard::Orders DispatchBoard::turn(const ItemTypeSettings& settings, Instant now,
                                          bool stopping) {
  Orders orders{.look_again = now + settings.dispatch_interval};
  const auto look_at = [&](Instant at) { orders.look_again = std::min(orders.look_again, at); };
  if (!stopping) {
    if (!asking_ && now >= renew_at_) {
      orders.ask_lease = true;
      asking_ = true;
      renew_at_ = now + kLeaseRenewal;
    }
    look_at(renew_at_);
  }
  if (!lease_) return orders;
  // Past its term nothing is sent or claimed, but what is held and known is kept: the token tells
  // whether somebody else came meanwhile, and until then it may still settle.
  const bool holds = holds_lease(now);
  if (holds) look_at(lease_until_);
  pace_.set_limit(pace_of(settings));
  if (stopping) return_held("this node stops", now);
  if (!settings.enabled) return_held("switched off", now);
  if (paused_until_ - now > kHoldMax) return_held("the sink asked for a pause", now);
  if (results_are_due(now, stopping)) {
    orders.settle = take_results();
    ++settling_;
    if (!results_.empty() && settling_ < kSettlesMax) look_at(now);
  } else if (!results_.empty() && settling_ < kSettlesMax) {
    look_at(std::max(results_since_ + kSettleDelay, settle_again_));
  }
  if (stopping || !holds || !settings.enabled || now < paused_until_) {
    if (now < paused_until_) look_at(paused_until_);
    return orders;
  }
  const std::size_t wanted =
      plan_claim({.held = held_.size() + sending_,
                  .batch_size = static_cast<std::size_t>(settings.batch_size),
                  .pace = pace_of(settings)});
  if (wanted > 0 && !claiming_) {
    if (now >= claim_at_) {
      orders.claim = wanted;
      claiming_ = true;
    } else {
      look_at(claim_at_);
    }
  }
  return orders;
}

std::optional<DispatchBoard::Sending> DispatchBoard::take(const ItemTypeSettings& settings,
                                                          Instant now, Instant& look_again) {
  const auto not_before = [&](Instant at) -> std::optional<Sending> {
    look_again = std::min(look_again, at);
    return std::nullopt;
  };
  if (!holds_lease(now) || held_.empty() || !settings.enabled) return std::nullopt;
  if (sending_ >= sink_.concurrency) return std::nullopt;  // an answer wakes us
  if (now < paused_until_) return not_before(paused_until_);
  const auto first = held_.begin();
  if (first->first.first > now) return not_before(first->first.first);
  if (const Instant at = pace_.next(now); at > now) return not_before(at);
  pace_.record(now);
  Held held = std::move(first->second);
  held_.erase(first);
  ++sending_;
  Millis delay{0};
  if (sink_.delays) {
    const Instant start =
        held.item.scheduled + jitter_of(held.item.id.str(), settings.jitter_window);
    delay = std::max(Millis{0}, std::chrono::ceil<Millis>(start - (now + wall_offset_)));
  }
  return Sending{.handover = {.type = type_,
                              .id = std::move(held.item.id),
                              .scheduled = held.item.scheduled,
                              .attempt = held.item.attempts,
                              .retry_count = held.item.retry_count,
                              .context = std::move(held.item.context),
                              .start_delay = delay},
                 .batch_id = std::move(held.batch_id),
                 .taken = now};
}

void DispatchBoard::on_lease(const Result<std::optional<Lease>>& lease,
                             const ItemTypeSettings& settings, Instant asked, Instant now) {
  asking_ = false;
  if (!lease) return;  // the term goes on; the next attempt comes soon
  if (!*lease) return lose_lease();
  const bool fresh = !lease_ || lease_->token != (*lease)->token;
  if (fresh) {
    lose_lease();
    // Whoever had the lease before may have used the whole pace until now.
    pace_ = Pace(pace_of(settings), now);
    // A pause is never longer than max_pause: more is left of it only if the clock was set back.
    paused_until_ =
        std::min((*lease)->paused_until - wall_offset_, now + Millis{settings.max_pause});
    claim_at_ = now;
  }
  lease_ = **lease;
  lease_until_ = asked + kLeaseTerm - kLeaseMargin;
}

void DispatchBoard::on_claim(Result<Claim>&& claim, std::size_t limit,
                             const ItemTypeSettings& settings, Instant now) {
  claiming_ = false;
  if (!claim) {
    if (claim.error().kind == ErrorKind::conflict) return lose_lease();
    claim_at_ = now + kStoreRetry;
    return;
  }
  if (!lease_) return;  // lost meanwhile: the items are the next holder's
  for (ClaimedItem& item : claim->items) {
    const std::size_t bytes = kItemBytes + item.context.size();
    if (!known_.emplace(item.id, bytes).second) continue;  // a stale claim, still under way here
    bytes_ += bytes;
    Instant at = now;
    if (!sink_.delays) {
      at = std::max(
          now, item.scheduled - wall_offset_ + jitter_of(item.id.str(), settings.jitter_window));
    }
    held_.emplace(Key{at, order_++}, Held{std::move(item), claim->batch_id});
  }
  const Instant latest = now + settings.dispatch_interval;
  if (claim->items.size() >= limit) {
    claim_at_ = now;
  } else {
    claim_at_ = claim->next_due
                    ? std::clamp(*claim->next_due - wall_offset_ - claim_ahead(settings, sink_),
                                 now, latest)
                    : latest;
  }
}

void DispatchBoard::on_answer(const ItemId& id, const std::string& batch_id, int retry_count,
                              SinkAnswer&& answer, const ItemTypeSettings& settings, Instant now) {
  --sending_;
  Settlement settlement{.id = id,
                        .batch_id = batch_id,
                        .detail = std::move(answer.detail),
                        .not_before = now + wall_offset_};
  switch (answer.outcome) {
    case SinkOutcome::done:
      settlement.outcome = Outcome::done;
      break;
    case SinkOutcome::failed:
      settlement.outcome = Outcome::failed;
      settlement.not_before +=
          retry_delay(settings.retry_backoff, settings.retry_backoff_max, retry_count + 1, rng_);
      break;
    case SinkOutcome::refused:
      settlement.outcome = Outcome::refused;
      break;
    case SinkOutcome::late:  // on_late() is for these
    case SinkOutcome::slow_down: {
      settlement.outcome = Outcome::give_back;
      const Millis pause =
          std::clamp(answer.pause.value_or(Seconds{1}), Millis{1}, Millis{settings.max_pause});
      pause_until(now + pause, now);
      settlement.not_before += pause;
      break;
    }
  }
  add_result(std::move(settlement), now);
}

void DispatchBoard::on_late(Sending&& sending, Instant now) {
  --sending_;
  pace_.take_back(sending.taken);
  Handover& item = sending.handover;
  if (!lease_) {  // it is another's by now
    forget(item.id);
    return;
  }
  held_.emplace(Key{now, order_++}, Held{{.id = std::move(item.id),
                                          .scheduled = item.scheduled,
                                          .retry_count = item.retry_count,
                                          .attempts = item.attempt,
                                          .context = std::move(item.context)},
                                         std::move(sending.batch_id)});
}

void DispatchBoard::pause_until(Instant until, Instant now) {
  // The next holder should know; answers that come together need not each say so.
  if (until > std::max(paused_until_, now) + Millis{500}) renew_at_ = now;
  paused_until_ = std::max(paused_until_, until);
}

void DispatchBoard::on_settled(bool worked, std::vector<Settlement>&& items, Instant now) {
  --settling_;
  if (worked) {
    for (const Settlement& item : items) {
      forget(item.id);
      const bool comes_back = item.outcome == Outcome::failed || item.outcome == Outcome::give_back;
      if (comes_back) claim_at_ = std::min(claim_at_, item.not_before - wall_offset_);
    }
    return;
  }
  // Nobody knows whether it was written; saying it again changes nothing then.
  settle_again_ = now + kStoreRetry;
  if (!lease_) return;
  if (results_.empty()) results_since_ = now;
  std::move(items.begin(), items.end(), std::back_inserter(results_));
}

void DispatchBoard::forget(const ItemId& id) {
  const auto found = known_.find(id);
  if (found == known_.end()) return;
  bytes_ -= found->second;
  known_.erase(found);
}

void DispatchBoard::lose_lease() {
  lease_.reset();
  for (const auto& [key, held] : held_) forget(held.item.id);
  held_.clear();
  for (const Settlement& result : results_) forget(result.id);
  results_.clear();
}

// The items were not tried, so they stay due when they were due. `now` must not move them: a clock
// that is ahead and is set back later would make them wait.
void DispatchBoard::return_held(std::string_view why, Instant now) {
  for (auto& [key, held] : held_) {
    add_result({.id = std::move(held.item.id),
                .batch_id = std::move(held.batch_id),
                .outcome = Outcome::give_back,
                .detail = std::string(why),
                .not_before = Instant{}},
               now);
  }
  held_.clear();
}

void DispatchBoard::add_result(Settlement&& settlement, Instant now) {
  if (!lease_) {  // it is another's by now
    forget(settlement.id);
    return;
  }
  if (results_.empty()) results_since_ = now;
  results_.push_back(std::move(settlement));
}

std::vector<Settlement> DispatchBoard::take_results() {
  if (results_.size() <= kSettleItemsMax) return std::exchange(results_, {});
  std::vector<Settlement> first(std::make_move_iterator(results_.begin()),
                                std::make_move_iterator(results_.begin() + kSettleItemsMax));
  results_.erase(results_.begin(), results_.begin() + kSettleItemsMax);
  return first;
}

bool DispatchBoard::results_are_due(Instant now, bool stopping) const noexcept {
  if (results_.empty() || settling_ >= kSettlesMax || now < settle_again_) return false;
  if (stopping || results_.size() >= kSettleItems || now >= results_since_ + kSettleDelay) {
    return true;
  }
  return sending_ == 0 && held_.empty();  // nothing more will come
}

}  // namespace penstock::core
