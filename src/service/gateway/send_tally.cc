#include "service/gateway/send_tally.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/rng.h"

namespace penstock::service {
namespace {

constexpr std::size_t kWriteMax = 2'000;  // in one step: some 20 ms

}  // namespace

bool UsageLog::add(store::UserId user, Instant at, const store::UsageCounts& counts) {
  const std::pair place(user, store::minute_of(at));
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(place); found != entries_.end()) {
    found->second += counts;
    return true;
  }
  if (entries_.size() >= kEntriesMax) return false;
  entries_.emplace(place, counts);
  return true;
}

Result<void> UsageLog::flush() {
  const std::lock_guard turn(flushing_);
  Entries taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(entries_);
  }
  if (taken.empty()) return {};
  std::vector<store::UsageDelta> deltas;
  deltas.reserve(taken.size());
  for (const auto& [place, counts] : taken) {
    deltas.push_back({.user = place.first, .minute = place.second, .counts = counts});
  }
  Result<void> written = store_.record(deltas);
  if (written) return written;
  const std::lock_guard lock(mutex_);
  for (const auto& [place, counts] : taken) entries_[place] += counts;
  return written;
}

SendTally::SendTally(store::QuotaStore& quotas, runtime::Metrics& metrics)
    : outcomes_(metrics, "gateway_messages_total", "Attempts to send by what came of them",
                {"sent", "repeated", "limited", "conflict", "unknown_user", "failed"}),
      uncounted_(metrics.counter("gateway_usage_uncounted_total",
                                 "Attempts that analytics had no room for")),
      usage_(quotas) {}

void SendTally::count(core::UserId user, const Result<store::Sent>& answer, Instant now,
                      SentCount sent) {
  const auto note = [&](const store::UsageCounts& counts) {
    if (!usage_.add(user, now, counts)) uncounted_.add();
  };
  if (!answer) {
    outcomes_[Outcome::failed].add();
    return note({.failed = 1});
  }
  switch (answer->result) {
    case store::SendResult::sent:
      outcomes_[Outcome::sent].add();
      if (sent == SentCount::by_tally) note({.sent = 1});
      return;
    case store::SendResult::repeated:
      return outcomes_[Outcome::repeated].add();
    case store::SendResult::different:
    case store::SendResult::pending:
      return outcomes_[Outcome::conflict].add();
    case store::SendResult::unknown_user:  // nobody's usage: anyone could make up users
      return outcomes_[Outcome::unknown_user].add();
    case store::SendResult::limited:
    case store::SendResult::never:
      outcomes_[Outcome::limited].add();
      return note({.limited = 1});
    case store::SendResult::unpublished:
    case store::SendResult::unconfirmed:
      outcomes_[Outcome::failed].add();
      return note({.failed = 1});
  }
}

std::optional<store::AttemptOutcome> outcome_of(const Result<store::Sent>& answer) noexcept {
  if (!answer) return store::AttemptOutcome::failed;
  switch (answer->result) {
    case store::SendResult::sent:
      return store::AttemptOutcome::sent;
    case store::SendResult::limited:
    case store::SendResult::never:
      return store::AttemptOutcome::limited;
    case store::SendResult::unpublished:
    case store::SendResult::unconfirmed:
      return store::AttemptOutcome::failed;
    case store::SendResult::repeated:
    case store::SendResult::different:
    case store::SendResult::pending:
    case store::SendResult::unknown_user:
      break;
  }
  return std::nullopt;
}

AttemptLog::AttemptLog(store::AttemptStore& store, core::AttemptDetail detail, std::uint64_t seed,
                       runtime::Metrics& metrics)
    : store_(store),
      detail_(detail),
      seed_(seed),
      dropped_(metrics.counter("gateway_attempts_dropped_total",
                               "Attempts that the log of attempts had no room for")) {}

std::vector<AttemptLog::Call> AttemptLog::remember(std::span<const core::SendCall> calls) const {
  std::vector<Call> out;
  out.reserve(calls.size());
  const bool texts = detail_ == core::AttemptDetail::texts;
  for (const core::SendCall& call : calls) {
    out.push_back({.user = call.user, .text = texts ? call.message : std::string()});
  }
  return out;
}

void AttemptLog::note(std::vector<Call>&& calls, std::span<const Result<store::Sent>> answers,
                      Instant now) {
  std::vector<store::Attempt> made;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto outcome = outcome_of(answers[i]);
    if (!outcome) continue;
    const std::uint64_t drawn = drawn_.fetch_add(1, std::memory_order_relaxed);
    made.push_back(
        {.mark = {.at = now, .number = static_cast<std::int64_t>(mix64(seed_ + drawn) >> 1)},
         .user = calls[i].user,
         .outcome = *outcome,
         .message = *outcome == store::AttemptOutcome::sent ? answers[i]->id : ItemId{},
         .text = std::move(calls[i].text)});
  }
  const std::lock_guard lock(mutex_);
  const std::size_t room = kWaitingMax - std::min(kWaitingMax, waiting_.size());
  if (made.size() > room) {
    dropped_.add(made.size() - room);
    made.resize(room);
  }
  std::ranges::move(made, std::back_inserter(waiting_));
}

Result<void> AttemptLog::flush() {
  const std::lock_guard turn(flushing_);
  std::vector<store::Attempt> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(waiting_);
  }
  std::span<store::Attempt> left = taken;
  while (!left.empty()) {
    const auto part = left.first(std::min(left.size(), kWriteMax));
    Result<void> written = store_.append(part);
    if (!written) {
      const std::lock_guard lock(mutex_);
      std::vector<store::Attempt> kept(std::move_iterator(left.begin()),
                                       std::move_iterator(left.end()));
      std::ranges::move(waiting_, std::back_inserter(kept));
      waiting_ = std::move(kept);
      return written;
    }
    left = left.subspan(part.size());
  }
  return {};
}

}  // namespace penstock::service
