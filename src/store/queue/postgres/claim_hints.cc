#include "store/queue/postgres/claim_hints.h"

#include <algorithm>

#include "store/queue/ports.h"

namespace penstock::store::postgres {
namespace {

// A claim begins at the start at least this often, in case news got lost; but where that takes
// long, because a snapshot is held, so seldom that it costs a twentieth of the time.
constexpr double kStartSeconds = 1;
constexpr double kStartShare = 20;

// Items due later than kAnnounceWithin are not announced: no hint goes that far ahead.
constexpr std::int64_t kAheadUs = Micros{kAnnounceWithin}.count() / 2;

// Of a node that has not claimed for so long another one may be the dispatcher.
constexpr double kLookSeconds = 5;

// Far more than the claims under way; what is never settled must not pile up.
constexpr std::size_t kClaimedMax = 200'000;

std::int64_t micros(double seconds) { return static_cast<std::int64_t>(seconds * 1e6); }

}  // namespace

bool ClaimHints::usable(const Entry& entry, const ClaimRequest& request, std::int64_t now_us) {
  if (!entry.known || entry.token != request.token) return false;
  if (entry.since_start.seconds() > std::max(kStartSeconds, kStartShare * entry.start_seconds)) {
    return false;
  }
  // A claim behind the place may be stale by now.
  return !entry.oldest_claim_us || *entry.oldest_claim_us > now_us - Micros{request.stale}.count();
}

ClaimHints::RoundHandle ClaimHints::begin(const ClaimRequest& request, std::optional<Instant> now) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[request.type];
  const std::int64_t now_us =
      now ? now->time_since_epoch().count() : entry.moment_us + micros(entry.since_claim.seconds());
  Round& round = entry.rounds.emplace_back();
  if (usable(entry, request, now_us)) {
    round.from = std::min(entry.place, QueuePlace{.due_us = now_us + kAheadUs, .id = {}});
  }
  return std::prev(entry.rounds.end());
}

void ClaimHints::end(const ClaimRequest& request, RoundHandle round,
                     const std::optional<Report>& report) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[request.type];
  const Round ended = *round;
  entry.rounds.erase(round);
  if (entry.known && entry.token > request.token) return;
  if (!report || !report->passed) {
    entry.known = false;
    return;
  }
  if (!ended.from) {
    entry.oldest_claim_us = report->oldest_claim_us;
    entry.since_start = runtime::Stopwatch();
    entry.start_seconds = ended.watch.seconds();
  }
  if (report->claimed_any) {
    entry.oldest_claim_us =
        std::min(entry.oldest_claim_us.value_or(report->moment_us), report->moment_us);
  }
  entry.known = true;
  entry.token = request.token;
  entry.place = std::min(report->place, QueuePlace{.due_us = ended.lowest_us, .id = {}});
  entry.moment_us = report->moment_us;
  entry.since_claim = runtime::Stopwatch();
}

void ClaimHints::lower(const ItemType& type, std::int64_t due_us) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(type);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.place = std::min(entry.place, QueuePlace{.due_us = due_us, .id = {}});
  for (Round& round : entry.rounds) round.lowest_us = std::min(round.lowest_us, due_us);
}

void ClaimHints::forget() {
  const std::lock_guard lock(mutex_);
  for (auto& [type, entry] : entries_) {
    entry.known = false;
    for (Round& round : entry.rounds) round.lowest_us = std::numeric_limits<std::int64_t>::min();
  }
}

QueuePlace ClaimHints::first_place(const ItemType& type) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(type);
  if (found == entries_.end() || !found->second.known ||
      found->second.since_claim.seconds() > kLookSeconds) {
    return {};
  }
  return found->second.place;
}

void ClaimHints::remember(const ItemType& type, std::span<const ClaimedItem> items,
                          std::span<const std::int64_t> due_us) {
  const std::lock_guard lock(mutex_);
  auto& claimed = entries_[type].claimed;
  if (claimed.size() + items.size() > kClaimedMax) claimed.clear();
  for (std::size_t i = 0; i < items.size(); ++i) claimed[items[i].id.str()] = due_us[i];
}

std::vector<std::int64_t> ClaimHints::take_places(const ItemType& type,
                                                  std::span<const std::string_view> items) {
  std::vector<std::int64_t> places(items.size(), 0);
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(type);
  if (entry == entries_.end()) return places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto found = entry->second.claimed.find(std::string(items[i]));
    if (found == entry->second.claimed.end()) continue;
    places[i] = found->second;
    entry->second.claimed.erase(found);
  }
  return places;
}

}  // namespace penstock::store::postgres
