#include "service/gateway/usage_push.h"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

// Users times minutes that are looked at again: some 80 MB. What does not fit is sent again at the
// next look, which does no harm.
constexpr std::size_t kRememberedMax = 1'000'000;
constexpr std::size_t kRejectedLogged = 3;  // of one batch
// A turn outlasts a batch that takes as long as it may.
constexpr Millis kTurn = std::chrono::minutes{2};

}  // namespace

UsagePush::Counters::Counters(runtime::Metrics& metrics)
    : sent(metrics.counter("gateway_export_sent_total", "Minutes of users that were handed on")),
      rejected(metrics.counter("gateway_export_rejected_total",
                               "Minutes of users that the other side never will take")),
      failures(metrics.counter("gateway_export_failures_total",
                               "Requests of the export that have to be repeated")) {}

UsagePush::UsagePush(UsagePushOptions options, store::UsageExport& store, BulkTarget target,
                     const Clock& clock, Log& log, runtime::Metrics& metrics)
    : options_(std::move(options)),
      store_(store),
      target_(std::move(target)),
      clock_(clock),
      log_(log),
      counters_(metrics),
      behind_(metrics.gauge("gateway_export_behind_seconds",
                            "From the end of what was handed on until now, on the node whose turn "
                            "it is")),
      ticker_("gateway-export", options_.interval,
              [this](const auto& should_stop) { tick(should_stop); }) {}

void UsagePush::tick(const std::function<bool()>& should_stop) {
  const Instant now = clock_.now();
  if (now < not_before_) return;
  const auto turn = store_.take_turn(options_.name, options_.node, kTurn, std::nullopt);
  if (!turn) return failed(turn.error());
  if (!turn->mine) {
    sent_.clear();  // another node sends; what it did is not known here
    done_to_.reset();
    behind_.set(0);
    return;
  }
  const Instant end = store::minute_of(now - options_.settle);
  // Somebody else may have moved it: the store's word counts.
  done_to_ = turn->done_to;
  Instant from = store::minute_of(now - options_.backlog);
  if (done_to_) from = std::max(from, *done_to_ - options_.late);
  if (done_to_) {
    std::erase_if(sent_, [&](const auto& each) { return each.first.minute < from; });
  }
  if (push(from, end, should_stop)) {
    if (warned_) log_.info("gateway.export_resumed", {{"target", options_.name}});
    warned_ = false;
    failures_ = 0;
  }
  if (done_to_) {
    behind_.set(std::chrono::duration<double>(clock_.now() - *done_to_).count());
  }
}

bool UsagePush::push(Instant from, Instant to, const std::function<bool()>& should_stop) {
  std::optional<store::UsageMark> after;
  for (;;) {
    if (should_stop()) return false;
    const auto page = store_.page(from, to, after, options_.batch_max);
    if (!page) {
      failed(page.error());
      return false;
    }
    std::vector<store::UserMinute> batch;
    for (const store::UserMinute& each : *page) {
      if (!is_known(each)) batch.push_back(each);
    }
    if (!batch.empty() && !send(batch)) return false;
    const bool last = page->size() < options_.batch_max;
    if (!page->empty()) {
      after = store::UsageMark{.minute = page->back().minute, .user = page->back().user};
    }
    // Whole minutes: of the last one of a page there may be more users.
    const Instant reached = last ? to : page->back().minute;
    if (!done_to_ || reached > *done_to_) {
      const Result<bool> kept = store_.set_done_to(options_.name, options_.node, reached);
      if (!kept) {
        failed(kept.error());
        return false;
      }
      if (!*kept) return false;  // another node has the turn
      done_to_ = reached;
      // It may have been a long way.
      const auto turn = store_.take_turn(options_.name, options_.node, kTurn, std::nullopt);
      if (!turn || !turn->mine) return false;
    }
    if (last) return true;
  }
}

bool UsagePush::send(std::span<const store::UserMinute> batch) {
  const Result<BulkAnswer> answer = target_(batch);
  if (!answer) {
    counters_.failures.add();
    failed(answer.error());
    return false;
  }
  counters_.rejected.add(answer->rejected.size());
  for (std::size_t i = 0; i < std::min(answer->rejected.size(), kRejectedLogged); ++i) {
    log_.warn("gateway.export_rejected",
              {{"error", answer->rejected[i]}, {"of", answer->rejected.size()}});
  }
  if (answer->again > 0) {
    counters_.failures.add();
    failed({.kind = ErrorKind::overloaded,
            .what = std::to_string(answer->again) + " of " + std::to_string(batch.size()) +
                    " were not taken"});
    return false;
  }
  counters_.sent.add(batch.size() - answer->rejected.size());
  remember(batch);
  return true;
}

void UsagePush::remember(std::span<const store::UserMinute> batch) {
  for (const store::UserMinute& each : batch) {
    const store::UsageMark mark{.minute = each.minute, .user = each.user};
    if (sent_.size() < kRememberedMax || sent_.contains(mark)) sent_[mark] = each.counts;
  }
}

bool UsagePush::is_known(const store::UserMinute& each) const {
  const auto found = sent_.find({.minute = each.minute, .user = each.user});
  return found != sent_.end() && found->second == each.counts;
}

// The same again later, longer each time unless the other side says when.
void UsagePush::failed(const Error& error) {
  const Millis step =
      std::min(options_.retry_most, options_.retry_first * (1 << std::min(failures_++, 10)));
  not_before_ = clock_.now() + std::max(step, error.retry_after);
  if (!std::exchange(warned_, true)) {
    log_.warn("gateway.export_failed", {{"target", options_.name}, {"error", error.what}});
  }
}

}  // namespace penstock::service
