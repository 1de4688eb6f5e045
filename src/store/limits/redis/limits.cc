#include "store/limits/redis/limits.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "core/limits/decide.h"

namespace penstock::store::redis {
namespace {

Result<LimitAnswer> answer_of(const LimitRequest& request, const Result<bool>& decided) {
  if (!decided) return std::unexpected(decided.error());
  const bool admitted = *decided;
  if (request.checks.size() == 1) return LimitAnswer{.admitted = admitted, .bound = 0};
  std::vector<core::LimitUse> uses(request.checks.size());
  for (std::size_t i = 0; i < uses.size(); ++i) uses[i].shadow = request.checks[i].shadow;
  return LimitAnswer{.admitted = admitted,
                     .bound = core::bound_of(uses, request.statuses, admitted)};
}

}  // namespace

bool Limits::one_slot(const LimitRequest& request) const {
  if (request.checks.size() == 1) return true;
  const std::uint16_t slot = slot_of(decider_.name_of(request.checks.front().key));
  return std::ranges::all_of(request.checks, [&](const LimitCheck& check) {
    return slot_of(decider_.name_of(check.key)) == slot;
  });
}

void Limits::apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
                   std::span<Result<LimitAnswer>> answers) {
  PENSTOCK_CHECK(answers.size() == requests.size());
  const runtime::Deadline deadline(deadline_);
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    PENSTOCK_CHECK(!requests[i].checks.empty());
    if (std::ranges::all_of(requests[i].checks, is_limit_key, &LimitCheck::key)) {
      pending.push_back(i);
    } else {
      answers[i] = invalid_field("key", "must have from 1 to 512 bytes");
    }
  }
  if (!client_.cluster()) return apply_whole(requests, pending, now, deadline, answers);
  // Those over several slots are decided after the others, and whoever shares a key with one of
  // them after it.
  while (!pending.empty()) {
    std::vector<std::size_t> whole;
    std::vector<std::size_t> spread;
    std::vector<std::size_t> later;
    std::unordered_set<std::string_view> waited_for;
    for (const std::size_t i : pending) {
      const auto& checks = requests[i].checks;
      const bool waits = std::ranges::any_of(
          checks, [&](const LimitCheck& check) { return waited_for.contains(check.key); });
      const bool together = !waits && one_slot(requests[i]);
      (waits ? later : together ? whole : spread).push_back(i);
      if (together) continue;
      for (const LimitCheck& check : checks) waited_for.insert(check.key);
    }
    apply_whole(requests, whole, now, deadline, answers);
    apply_spread(requests, spread, now, deadline, answers);
    pending = std::move(later);
  }
}

void Limits::apply_whole(std::span<const LimitRequest> requests, std::span<const std::size_t> which,
                         std::optional<Instant> now, const runtime::Deadline& deadline,
                         std::span<Result<LimitAnswer>> answers) {
  std::vector<Part> parts;
  parts.reserve(which.size());
  for (const std::size_t i : which) {
    parts.push_back(
        {.checks = requests[i].checks, .cost = requests[i].cost, .statuses = requests[i].statuses});
  }
  decider_.run(parts, now, deadline);
  for (std::size_t at = 0; at < which.size(); ++at) {
    const std::size_t i = which[at];
    answers[i] = answer_of(requests[i], parts[at].admitted);
  }
}

// A request over several slots, cut into parts of one slot each, in the order of their slots.
struct Limits::Spread {
  struct Piece {
    std::vector<std::size_t> places;  // of its checks in the request
    std::vector<LimitCheck> checks;
    std::vector<core::LimitStatus> statuses;
    std::size_t part = 0;  // where its part stands in the current step
  };

  Spread(const LimitRequest& made, const Decider& decider) : request(&made) {
    std::map<std::uint16_t, Piece> by_slot;
    for (std::size_t i = 0; i < made.checks.size(); ++i) {
      Piece& piece = by_slot[slot_of(decider.name_of(made.checks[i].key))];
      piece.places.push_back(i);
      piece.checks.push_back(made.checks[i]);
    }
    for (auto& [slot, piece] : by_slot) {
      piece.statuses.resize(piece.checks.size());
      pieces.push_back(std::move(piece));
    }
  }

  void add_to(std::vector<Part>& parts, std::int64_t cost, bool tried) {
    for (Piece& piece : pieces) {
      piece.part = parts.size();
      parts.push_back(
          {.checks = piece.checks, .cost = cost, .tried = tried, .statuses = piece.statuses});
    }
  }

  // Of all pieces together; statuses come with it.
  void gather(std::span<const Part> parts) {
    answer = true;
    for (const Piece& piece : pieces) {
      const Result<bool>& admitted = parts[piece.part].admitted;
      if (!admitted) {
        answer = admitted;
      } else if (answer) {
        answer = *answer && *admitted;
      }
      for (std::size_t i = 0; i < piece.places.size(); ++i) {
        request->statuses[piece.places[i]] = piece.statuses[i];
      }
    }
  }

  // Of the pieces that admitted, what was charged.
  void add_give_backs(std::span<const Part> charged, std::vector<Part>& parts) {
    for (Piece& piece : pieces) {
      const Result<bool>& admitted = charged[piece.part].admitted;
      if (!admitted || !*admitted) continue;
      // A shadow that would have denied was not charged.
      Piece back;
      for (std::size_t i = 0; i < piece.places.size(); ++i) {
        if (!piece.statuses[i].admitted) continue;
        back.places.push_back(piece.places[i]);
        back.checks.push_back(piece.checks[i]);
      }
      if (back.checks.empty()) continue;
      back.statuses.resize(back.checks.size());
      back.part = parts.size();
      returned.push_back(std::move(back));
      parts.push_back({.checks = returned.back().checks,
                       .cost = -request->cost,
                       .statuses = returned.back().statuses});
    }
  }

  void gather_give_backs(std::span<const Part> parts) {
    for (const Piece& piece : returned) {
      if (!parts[piece.part].admitted) continue;
      for (std::size_t i = 0; i < piece.places.size(); ++i) {
        request->statuses[piece.places[i]] = piece.statuses[i];
      }
    }
  }

  const LimitRequest* request;
  std::vector<Piece> pieces;
  std::vector<Piece> returned;
  Result<bool> answer = false;
};

void Limits::apply_spread(std::span<const LimitRequest> requests,
                          std::span<const std::size_t> which, std::optional<Instant> now,
                          const runtime::Deadline& deadline,
                          std::span<Result<LimitAnswer>> answers) {
  if (which.empty()) return;
  std::vector<Spread> spreads;
  for (const std::size_t i : which) {
    spreads.emplace_back(requests[i], decider_);
    // Where the parts' statuses live must not move any more.
    spreads.back().returned.reserve(spreads.back().pieces.size());
  }
  // Tried first: a request that one of its limits denies, the usual denial, disturbs no other.
  std::vector<Part> tried;
  for (Spread& spread : spreads) {
    if (spread.request->cost > 0) spread.add_to(tried, spread.request->cost, true);
  }
  decider_.run(tried, now, deadline);
  std::vector<Part> charged;
  std::vector<Spread*> charging;
  for (Spread& spread : spreads) {
    if (spread.request->cost > 0) {
      spread.gather(tried);
      if (!spread.answer || !*spread.answer) continue;
    }
    spread.add_to(charged, spread.request->cost, false);
    charging.push_back(&spread);
  }
  decider_.run(charged, now, deadline);
  std::vector<Part> returned;
  for (Spread* spread : charging) {
    spread->gather(charged);
    const bool stands = spread->answer && *spread->answer;
    if (!stands && spread->request->cost > 0) spread->add_give_backs(charged, returned);
  }
  if (!returned.empty()) {
    decider_.run(returned, now, runtime::Deadline(deadline_));
    for (Spread* spread : charging) spread->gather_give_backs(returned);
  }
  for (std::size_t at = 0; at < which.size(); ++at) {
    answers[which[at]] = answer_of(requests[which[at]], spreads[at].answer);
  }
}

}  // namespace penstock::store::redis
