#include "store/quota/cached/cached_gate.h"

#include <algorithm>
#include <map>
#include <utility>

namespace penstock::store::cached {
namespace {

// Of asking the cache and leasing what it lacks: others may take what was leased for us.
constexpr int kRoundsMax = 8;

}  // namespace

// The charges of one user, in order.
struct CachedGate::Part {
  core::UserId user;
  std::vector<std::size_t> places;  // in the batch
  std::size_t next = 0;             // of places: those before are decided
  bool past_cache = false;          // the cache must not have this user now

  bool done() const noexcept { return next == places.size(); }
};

class CachedGate::Batch {
 public:
  Batch(std::span<const Charge> charges, std::optional<Instant> now)
      : charges_(charges), now_(now) {
    answers_.reserve(charges.size());
    std::map<core::UserId, std::size_t> known;
    for (std::size_t i = 0; i < charges.size(); ++i) {
      answers_.push_back(fail(ErrorKind::unavailable, "the gateway's cache is being closed"));
      const auto [found, added] = known.try_emplace(charges[i].user, parts_.size());
      if (added) parts_.push_back({.user = charges[i].user, .places = {}});
      parts_[found->second].places.push_back(i);
    }
  }

  std::optional<Instant> now() const noexcept { return now_; }
  std::int64_t cost(std::size_t place) const { return charges_[place].cost; }
  const Charge& charge(std::size_t place) const { return charges_[place]; }
  std::vector<Part>& parts() noexcept { return parts_; }
  Part* part_of(core::UserId user) {
    const auto found = std::ranges::find(parts_, user, &Part::user);
    return found == parts_.end() ? nullptr : &*found;
  }

  bool done() const {
    return std::ranges::all_of(parts_, [](const Part& part) { return part.done(); });
  }
  std::vector<Part*> open_parts(bool for_cache) {
    std::vector<Part*> open;
    for (Part& part : parts_) {
      if (!part.done() && !(for_cache && part.past_cache)) open.push_back(&part);
    }
    return open;
  }

  void answer(Part& part, Result<Charged> charged) {
    answers_[part.places[part.next++]] = std::move(charged);
  }
  void answer_rest(Part& part, const Result<Charged>& charged) {
    while (!part.done()) answer(part, charged);
  }
  std::vector<Result<Charged>> take_answers() { return std::move(answers_); }

 private:
  const std::span<const Charge> charges_;
  const std::optional<Instant> now_;
  std::vector<Part> parts_;
  std::vector<Result<Charged>> answers_;
};

std::vector<Result<Charged>> CachedGate::charge(std::span<const Charge> charges,
                                                std::optional<Instant> now) {
  Batch batch(charges, now);
  const runtime::Deadline patience(member_.options().patience);
  while (!batch.done()) {
    charge_by_cache(batch);
    if (batch.done()) break;
    if (!charge_past_cache(batch)) {
      if (patience.passed()) break;
      member_.help();
    }
    for (Part& part : batch.parts()) part.past_cache = false;
  }
  return batch.take_answers();
}

void CachedGate::charge_by_cache(Batch& batch) {
  for (int round = 0; round < kRoundsMax; ++round) {
    std::vector<Part*> parts = batch.open_parts(true);
    CacheKey key;
    if (parts.empty() || !ask_cache(batch, parts, key)) return;
    if (!parts.empty()) lease_for(batch, key, parts);
  }
}

// Decides what it can; what it lacks a lease for stays in `parts`. False: not by the cache, now.
bool CachedGate::ask_cache(Batch& batch, std::vector<Part*>& parts, CacheKey& key) {
  std::vector<CacheCharge> asked;
  for (const Part* part : parts) {
    asked.push_back({.user = part->user, .costs = {}});
    for (std::size_t i = part->next; i < part->places.size(); ++i) {
      asked.back().costs.push_back(batch.cost(part->places[i]));
    }
  }
  std::optional<EpochMember::Use> use = member_.use();
  if (!use) return false;
  key = use->key();
  Result<std::vector<CacheCharged>> answers = cache_.charge(key, asked, batch.now());
  if (!answers) {
    use.reset();
    member_.lose(key.epoch, answers.error());
    return false;
  }
  // Whoever closed the epoch meanwhile did not know of it.
  if (!use->in_term()) return false;
  std::vector<Part*> lacking;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& part = *parts[i];
    const CacheCharged& answer = (*answers)[i];
    std::int64_t window = 0;
    for (const Charged& charged : answer.decided) {
      if (charged.result == ChargeResult::charged) window = charged.window;
      batch.answer(part, charged);
    }
    if (answer.changed) {
      use->saw(
          {.user = part.user, .window = window, .count = answer.count, .version = answer.version});
    }
    part.past_cache = answer.blocked;
    if (!part.done() && !answer.blocked) lacking.push_back(&part);
  }
  parts = std::move(lacking);
  return true;
}

void CachedGate::lease_for(Batch& batch, const CacheKey& key, std::span<Part* const> parts) {
  std::vector<QuotaLeaseRequest> requests;
  for (const Part* part : parts) {
    QuotaLeaseRequest request{.user = part->user, .need = 0, .least = core::kRateLimitMax};
    for (std::size_t i = part->next; i < part->places.size(); ++i) {
      const std::int64_t cost = batch.cost(part->places[i]);
      request.need = std::min(request.need + cost, core::kRateLimitMax);
      request.least = std::min(request.least, cost);
    }
    requests.push_back(request);
  }
  Result<std::vector<QuotaLease>> leases =
      ledger_.lease(key.epoch, requests, member_.options().lease, batch.now());
  const runtime::Stopwatch leased;
  if (!leases) {
    for (Part* part : parts) batch.answer_rest(*part, std::unexpected(leases.error()));
    return;
  }
  // The epoch is closed: what comes now is charged past the cache.
  for (Part* part : parts) part->past_cache = leases->empty();
  std::vector<QuotaLease> filling;
  for (std::size_t i = 0; i < leases->size(); ++i) {
    switch ((*leases)[i].result) {
      case LeaseResult::leased:
        filling.push_back((*leases)[i]);
        break;
      case LeaseResult::unknown_user:
        batch.answer_rest(*parts[i], Charged{.result = ChargeResult::unknown_user});
        break;
      case LeaseResult::never:
        batch.answer_rest(*parts[i], Charged{.result = ChargeResult::never});
        break;
    }
  }
  if (!filling.empty()) fill(batch, key, filling, leased);
}

void CachedGate::fill(Batch& batch, const CacheKey& key, std::span<QuotaLease> leases,
                      const runtime::Stopwatch& leased) {
  std::vector<bool> taken(leases.size(), false);
  if (std::optional<EpochMember::Use> use = member_.use(); use && use->key().epoch == key.epoch) {
    const Micros passed{static_cast<std::int64_t>(leased.seconds() * 1e6)};
    for (QuotaLease& lease : leases) lease.remaining -= passed;
    Result<std::vector<bool>> filled = cache_.fill(key, leases);
    if (!filled) {
      use.reset();
      return member_.lose(key.epoch, filled.error());
    }
    taken = std::move(*filled);
  }
  for (std::size_t i = 0; i < leases.size(); ++i) {
    if (taken[i]) continue;
    if (Part* const part = batch.part_of(leases[i].user)) part->past_cache = true;
    // Should this fail, it counts as used until the epoch is settled.
    static_cast<void>(ledger_.return_lease(key.epoch, leases[i]));
  }
}

bool CachedGate::charge_past_cache(Batch& batch) {
  std::vector<Charge> charges;
  std::vector<Part*> owners;
  for (Part* part : batch.open_parts(false)) {
    for (std::size_t i = part->next; i < part->places.size(); ++i) {
      charges.push_back(batch.charge(part->places[i]));
      owners.push_back(part);
    }
  }
  const Result<std::vector<PastCache>> answers = ledger_.charge(charges, batch.now());
  if (!answers) {
    for (Part* part : owners) batch.answer_rest(*part, std::unexpected(answers.error()));
    return true;
  }
  bool progress = false;
  std::vector<const Part*> waiting;
  for (std::size_t i = 0; i < answers->size(); ++i) {
    const PastCache& answer = (*answers)[i];
    // What can never be charged is said at once, but in its turn.
    if (answer.leased) waiting.push_back(owners[i]);
    if (std::ranges::find(waiting, owners[i]) != waiting.end()) continue;
    batch.answer(*owners[i], answer.charged);
    progress = true;
  }
  return progress;
}

Result<void> CachedGate::look_at(core::UserId user, std::int64_t window) {
  if (std::optional<EpochMember::Use> use = member_.use()) {
    // Nothing is given back: the answer is the count.
    const GiveBack nothing{.user = user, .cost = 0, .window = window};
    const Result<std::vector<CacheCount>> counts = cache_.give_back(use->key(), {&nothing, 1});
    if (!counts) {
      const std::int64_t epoch = use->key().epoch;
      use.reset();
      member_.lose(epoch, counts.error());
    } else if (const CacheCount& count = counts->front(); count.there) {
      use->saw({.user = user, .window = window, .count = count.count, .version = count.version});
    }
  }
  return member_.flush();
}

Result<void> CachedGate::give_back(std::span<const GiveBack> charges) {
  std::map<std::pair<core::UserId, std::int64_t>, std::int64_t> sums;
  for (const GiveBack& back : charges) sums[{back.user, back.window}] += back.cost;
  std::vector<GiveBack> backs;
  backs.reserve(sums.size());
  for (const auto& [place, cost] : sums) {
    backs.push_back({.user = place.first, .cost = cost, .window = place.second});
  }
  if (backs.empty()) return {};
  std::optional<EpochMember::Use> use = member_.use();
  if (!use) return ledger_.give_back(backs);
  const Result<std::vector<CacheCount>> counts = cache_.give_back(use->key(), backs);
  if (!counts) {
    const std::int64_t epoch = use->key().epoch;
    use.reset();
    member_.lose(epoch, counts.error());
    return std::unexpected(counts.error());
  }
  std::vector<GiveBack> past_cache;
  for (std::size_t i = 0; i < backs.size(); ++i) {
    const CacheCount& count = (*counts)[i];
    if (!count.there) {
      past_cache.push_back(backs[i]);
      continue;
    }
    use->saw({.user = backs[i].user,
              .window = backs[i].window,
              .count = count.count,
              .version = count.version});
  }
  use.reset();
  return ledger_.give_back(past_cache);
}

// Twice: a crash between the change and the second leaves no old entry that goes on being charged.
Result<Quota> CachedQuotas::put(UserId user, const QuotaRule& rule, std::optional<Instant> now) {
  PENSTOCK_TRY(gate_.member().block(user));
  Quota put = PENSTOCK_TRY(store_.put(user, rule, now));
  const std::int64_t window = put.refreshed.time_since_epoch().count();
  PENSTOCK_TRY(gate_.member().forget(user, window));
  return put;
}

Result<std::optional<Quota>> CachedQuotas::find(UserId user) {
  Result<std::optional<Quota>> found = store_.find(user);
  if (!found || !*found) return found;
  const std::int64_t window = (*found)->refreshed.time_since_epoch().count();
  PENSTOCK_TRY(gate_.look_at(user, window));
  return store_.find(user);
}

Result<bool> CachedQuotas::remove(UserId user) {
  PENSTOCK_TRY(gate_.member().block(user));
  bool removed = PENSTOCK_TRY(store_.remove(user));
  PENSTOCK_TRY(gate_.member().forget(user, std::nullopt));
  return removed;
}

}  // namespace penstock::store::cached
