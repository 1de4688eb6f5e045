// What one dispatcher knows of its item type, and what is to be done next: lease, items held, items
// under way, answers to settle, pace and pauses. No thread, no clock, no store: events and the time
// come in, actions go out, so every interleaving can be tested. One thread at a time.
//
// `now` is of a clock that no one sets: terms, pauses and the pace are spans, and a jump of the
// wall clock must not give a second of pace twice. What is said to and by the store is wall time;
// set_wall_offset() tells the difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"
#include "core/dispatch/handover.h"
#include "core/dispatch/item_type.h"
#include "core/dispatch/pace.h"

namespace penstock::core {

// A node that dies is missed after this; renewed three times as often.
inline constexpr Millis kLeaseTerm = Seconds{3};
inline constexpr Millis kLeaseRenewal = Seconds{1};
// The holder stops this long before its term ends, so that another never begins meanwhile.
inline constexpr Millis kLeaseMargin{500};

// Answers wait this long for others to be settled with: a transaction costs as much for one.
inline constexpr Millis kSettleDelay{20};
inline constexpr std::size_t kSettleItems = 500;
inline constexpr std::size_t kSettleItemsMax = 1'000;  // in one call: some 20 ms
inline constexpr int kSettlesMax = 2;                  // on their way at once
// Items are fetched this long before their time, and wait here: then they go on time.
inline constexpr Millis kFetchAhead{200};
// A hand-over is on its way so soon after its turn, or it takes another: less than what the pace's
// span has beyond a second, so that the bound holds where the items arrive, however busy this
// machine is.
inline constexpr Millis kTurnMax{8};
static_assert(kTurnMax < kPaceSpan - Seconds{1});
// In a longer pause what is held goes back, for others to see and to cancel.
inline constexpr Millis kHoldMax = Seconds{5};
// After the store failed.
inline constexpr Millis kStoreRetry{500};
// An item takes this beside its context: ids, places in maps, a settlement.
inline constexpr std::size_t kItemBytes = 512;

// How long before their time items are claimed. Only a sink that can start work later by itself is
// given them early; the others' wait here.
Millis claim_ahead(const ItemTypeSettings& settings, const SinkTraits& sink);

class DispatchBoard {
 public:
  struct Orders {
    bool ask_lease = false;
    std::size_t claim = 0;  // items; 0 = none
    std::vector<Settlement> settle;
    Instant look_again{};  // at the latest
  };
  struct Sending {
    Handover handover;
    std::string batch_id;
    Instant taken{};
  };

  DispatchBoard(ItemType type, std::uint64_t seed) : type_(std::move(type)), rng_(seed) {}

  // The wall clock shows this much more than `now` of the calls that follow.
  void set_wall_offset(Micros offset) noexcept { wall_offset_ = offset; }
  // Of the sink that the settings of the calls that follow name.
  void set_sink(const SinkTraits& sink) noexcept { sink_ = sink; }

  // What is to be done now, but for sending. What is ordered counts as begun.
  Orders turn(const ItemTypeSettings& settings, Instant now, bool stopping);
  // The next item that may be sent now; it counts as sent. When there is none, look_again says when
  // there may be one.
  std::optional<Sending> take(const ItemTypeSettings& settings, Instant now, Instant& look_again);

  void on_lease(const Result<std::optional<Lease>>& lease, const ItemTypeSettings& settings,
                Instant asked, Instant now);
  void on_claim(Result<Claim>&& claim, std::size_t limit, const ItemTypeSettings& settings,
                Instant now);
  void on_settled(bool worked, std::vector<Settlement>&& items, Instant now);
  void on_answer(const ItemId& id, const std::string& batch_id, int retry_count,
                 SinkAnswer&& answer, const ItemTypeSettings& settings, Instant now);
  // It was not sent, since its turn had passed: it takes another one.
  void on_late(Sending&& sending, Instant now);
  // There was no memory for the claim that was ordered; the next turn may order it again.
  void on_no_memory() noexcept { claiming_ = false; }
  // There may be items due sooner than was known.
  void on_news() noexcept { claim_at_ = Instant{}; }

  bool holds_lease(Instant now) const noexcept { return lease_ && now < lease_until_; }
  FencingToken token() const noexcept { return lease_ ? lease_->token : 0; }
  // In wall time; the epoch when there is none.
  Instant paused_until(Instant now) const noexcept {
    return paused_until_ > now ? paused_until_ + wall_offset_ : Instant{};
  }
  // Nothing of this board is under way any more.
  bool is_quiet() const noexcept {
    return sending_ == 0 && settling_ == 0 && !claiming_ && !asking_ && results_.empty();
  }
  std::size_t held() const noexcept { return held_.size(); }
  // What the items take that are held, under way or not settled yet.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Held {
    ClaimedItem item;
    std::string batch_id;
  };
  // By the instant it may go, then in the order of claiming.
  using Key = std::pair<Instant, std::uint64_t>;

  void lose_lease();
  void forget(const ItemId& id);
  void pause_until(Instant until, Instant now);
  void return_held(std::string_view why, Instant now);
  void add_result(Settlement&& settlement, Instant now);
  std::vector<Settlement> take_results();
  bool results_are_due(Instant now, bool stopping) const noexcept;

  const ItemType type_;
  Rng rng_;
  Micros wall_offset_{0};
  SinkTraits sink_;

  std::optional<Lease> lease_;
  Instant lease_until_{};
  Instant renew_at_{};
  bool asking_ = false;

  Pace pace_{std::nullopt, Instant{}};
  std::map<Key, Held> held_;
  std::uint64_t order_ = 0;
  // Held, under way or not settled: not to be taken twice. With what it takes.
  std::unordered_map<ItemId, std::size_t> known_;
  std::size_t bytes_ = 0;  // of known_
  std::size_t sending_ = 0;
  Instant paused_until_{};

  Instant claim_at_{};
  bool claiming_ = false;

  std::vector<Settlement> results_;
  Instant results_since_{};
  Instant settle_again_{};  // after a failure
  int settling_ = 0;
};

}  // namespace penstock::core
