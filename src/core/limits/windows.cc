#include "core/limits/windows.h"

#include <algorithm>
#include <span>

#include "core/limits/bucket.h"

namespace penstock::core {
namespace {

struct Counts {
  std::int64_t start = 0;  // of the window that holds the instant
  std::int64_t window = 1;
  std::int64_t current = 0;
  std::int64_t previous = 0;

  // In parts of 1 / window.
  Wide parts(std::int64_t at) const {
    return static_cast<Wide>(previous) * static_cast<std::uint64_t>(start + window - at) +
           static_cast<Wide>(current) * static_cast<std::uint64_t>(window);
  }
};

Counts counts_at(const LimitState& state, std::int64_t at) {
  const std::int64_t window = std::max<std::int64_t>(window_micros(state), 1);
  Counts counts{.start = at - at % window,
                .window = window,
                .current = state.windows.current,
                .previous = state.windows.previous};
  if (state.last >= counts.start) return counts;
  const bool neighbour = state.last >= counts.start - window;
  const bool sliding = state.type == LimitType::sliding_window_counter;
  counts.previous = neighbour && sliding ? counts.current : 0;
  counts.current = 0;
  return counts;
}

void give_back(Counts& counts, std::int64_t amount) {
  const std::int64_t from_current = std::min(counts.current, amount);
  counts.current -= from_current;
  counts.previous -= std::min(counts.previous, amount - from_current);
}

// When `previous` weighs no more than `room` whole counts: how far into the window.
std::int64_t elapsed_until(std::int64_t previous, std::int64_t room, std::int64_t window) {
  if (previous <= room) return 0;
  const Wide parts = static_cast<Wide>(room) * static_cast<std::uint64_t>(window);
  return window - static_cast<std::int64_t>(parts / static_cast<std::uint64_t>(previous));
}

// The first instant at which a cost within the capacity fits, if nobody else comes.
std::int64_t ready_at(const Limit& limit, const Counts& counts, std::int64_t cost) {
  const std::int64_t room = limit.capacity - cost - counts.current;
  if (room >= 0) return counts.start + elapsed_until(counts.previous, room, counts.window);
  const std::int64_t next = counts.start + counts.window;
  if (limit.type == LimitType::fixed_window) return next;
  return next + elapsed_until(counts.current, limit.capacity - cost, counts.window);
}

std::int64_t empty_at(const Limit& limit, const Counts& counts) {
  const bool carries_over = limit.type == LimitType::sliding_window_counter && counts.current > 0;
  return counts.start + counts.window * (carries_over ? 2 : 1);
}

constexpr std::uint32_t kRoomMin = 4;  // 64 bytes

std::span<LogEntry> entries_of(const ChargeLog& log) {
  return {log.entries + log.first, log.count};
}

// The entries that count at `at`, and their sum.
struct Live {
  std::span<const LogEntry> entries;
  std::int64_t sum = 0;
};

Live live_at(const LimitState& state, std::int64_t at) {
  Live live{.entries = entries_of(state.log), .sum = state.log.sum};
  const std::int64_t window = window_micros(state);
  while (!live.entries.empty() && live.entries.front().at + window <= at) {
    live.sum -= live.entries.front().cost;
    live.entries = live.entries.subspan(1);
  }
  return live;
}

// Moves the entries into a buffer of `room` places, which they fit into.
void move_to(ChargeLog& log, std::uint32_t room) {
  if (room == log.room) {
    std::ranges::copy(entries_of(log), log.entries);
  } else {
    LogEntry* const entries = room > 0 ? new LogEntry[room] : nullptr;
    std::ranges::copy(entries_of(log), entries);
    delete[] log.entries;
    log.entries = entries;
    log.room = room;
  }
  log.first = 0;
}

void drop_expired(LimitState& state, std::int64_t at) {
  ChargeLog& log = state.log;
  const Live live = live_at(state, at);
  log.first += log.count - static_cast<std::uint32_t>(live.entries.size());
  log.count = static_cast<std::uint32_t>(live.entries.size());
  log.sum = live.sum;
  if (log.count == 0) log.first = 0;
  // A quarter of the room for an eighth in use: growing back is far enough away.
  if (log.room > 2 * kRoomMin && log.count <= log.room / 8) move_to(log, log.room / 4);
}

// Leaves at most entries_max / 2 + 2 entries: one for each step of time, a step being 2 /
// entries_max of the window, at the newest instant in it. Steps stand still, so that joining again
// and again moves no charge out of its step.
void join_neighbours(LimitState& state, std::uint32_t entries_max) {
  const std::int64_t step = window_micros(state) / (entries_max / 2) + 1;
  const std::span<LogEntry> entries = entries_of(state.log);
  std::size_t kept = 0;
  for (const LogEntry& entry : entries) {
    if (kept > 0 && entries[kept - 1].at / step == entry.at / step) {
      entries[kept - 1].at = entry.at;
      entries[kept - 1].cost += entry.cost;
    } else {
      entries[kept++] = entry;
    }
  }
  state.log.count = static_cast<std::uint32_t>(kept);
}

void make_room(LimitState& state, std::uint32_t entries_max) {
  ChargeLog& log = state.log;
  if (log.count >= entries_max) join_neighbours(state, entries_max);
  if (log.first + log.count < log.room) return;
  const bool half_free = log.room > 0 && log.count <= log.room / 2;
  move_to(log, half_free ? log.room : std::max(kRoomMin, log.room * 2));
}

void take_newest(ChargeLog& log, std::int64_t amount) {
  while (amount > 0 && log.count > 0) {
    LogEntry& newest = entries_of(log).back();
    const std::int64_t taken = std::min(newest.cost, amount);
    newest.cost -= taken;
    log.sum -= taken;
    amount -= taken;
    if (newest.cost == 0) --log.count;
  }
}

// When what is live after taking `amount` of the newest will all have expired.
std::int64_t empty_at(const Live& live, std::int64_t amount, std::int64_t window) {
  std::span<const LogEntry> entries = live.entries;
  while (!entries.empty() && entries.back().cost <= amount) {
    amount -= entries.back().cost;
    entries = entries.first(entries.size() - 1);
  }
  return entries.empty() ? 0 : entries.back().at + window;
}

// When enough has expired for `needed` tokens, which is at most the live sum.
std::int64_t freed_at(const Live& live, std::int64_t needed, std::int64_t window) {
  for (const LogEntry& entry : live.entries) {
    needed -= entry.cost;
    if (needed <= 0) return entry.at + window;
  }
  return 0;
}

}  // namespace

LimitStatus evaluate_windows(const Limit& limit, const LimitState& state, std::int64_t cost,
                             Instant now) noexcept {
  const std::int64_t at = effective_micros(state, now);
  const std::int64_t asked = now.time_since_epoch().count();
  Counts counts = counts_at(state, at);
  const Wide full = static_cast<Wide>(limit.capacity) * static_cast<std::uint64_t>(counts.window);
  LimitStatus status{.admitted = true, .limit = limit.capacity};
  if (cost > limit.capacity) {
    status.admitted = false;
    status.retry_after = kNever;
  } else if (cost > 0) {
    Counts charged = counts;
    charged.current += cost;
    status.admitted = charged.parts(at) <= full;
    if (status.admitted) counts = charged;
    if (!status.admitted) status.retry_after = Micros{ready_at(limit, counts, cost) - asked};
  } else if (cost < 0) {
    give_back(counts, -cost);
  }
  const Wide parts = counts.parts(at);
  if (parts < full) {
    status.remaining =
        static_cast<std::int64_t>(divide(full - parts, static_cast<std::uint64_t>(counts.window)));
  }
  if (parts > 0) status.reset_after = Micros{empty_at(limit, counts) - asked};
  return status;
}

void book_windows(LimitState& state, std::int64_t cost, Instant now) noexcept {
  const std::int64_t at = effective_micros(state, now);
  Counts counts = counts_at(state, at);
  if (cost > 0) {
    counts.current += cost;
  } else {
    give_back(counts, -cost);
  }
  state.windows = {.current = counts.current, .previous = counts.previous};
  state.last = at;
}

std::int64_t used_in_windows(const LimitState& state, std::int64_t at) noexcept {
  const Counts counts = counts_at(state, at);
  return static_cast<std::int64_t>(
      divide_up(counts.parts(at), static_cast<std::uint64_t>(counts.window)));
}

void change_windows(const Limit& limit, LimitState& state, std::int64_t at) noexcept {
  state.windows = {.current = used_in_windows(state, at), .previous = 0};
  state.window_seconds = static_cast<std::uint32_t>(limit.window.count());
  state.last = at;
}

LimitStatus evaluate_log(const Limit& limit, const LimitState& state, std::int64_t cost,
                         Instant now) noexcept {
  const std::int64_t at = effective_micros(state, now);
  const std::int64_t asked = now.time_since_epoch().count();
  const std::int64_t window = window_micros(state);
  const Live live = live_at(state, at);
  LimitStatus status{.admitted = true, .limit = limit.capacity};
  std::int64_t used = live.sum;
  std::int64_t empty = empty_at(live, cost < 0 ? -cost : 0, window);
  if (cost > limit.capacity) {
    status.admitted = false;
    status.retry_after = kNever;
  } else if (cost > 0) {
    const std::int64_t excess = live.sum + cost - limit.capacity;
    status.admitted = excess <= 0;
    if (status.admitted) {
      used += cost;
      empty = at + window;
    } else {
      status.retry_after = Micros{freed_at(live, excess, window) - asked};
    }
  } else if (cost < 0) {
    used = std::max<std::int64_t>(used + cost, 0);
  }
  status.remaining = std::max<std::int64_t>(limit.capacity - used, 0);
  if (used > 0) status.reset_after = Micros{empty - asked};
  return status;
}

void book_log(LimitState& state, std::int64_t cost, Instant now,
              std::uint32_t entries_max) noexcept {
  const std::int64_t at = effective_micros(state, now);
  drop_expired(state, at);
  if (cost < 0) {
    take_newest(state.log, -cost);
  } else {
    append_to_log(state, {.at = at, .cost = cost}, entries_max);
  }
  state.last = at;
}

void append_to_log(LimitState& state, LogEntry entry, std::uint32_t entries_max) noexcept {
  ChargeLog& log = state.log;
  log.sum += entry.cost;
  if (log.count > 0 && entries_of(log).back().at == entry.at) {
    entries_of(log).back().cost += entry.cost;
    return;
  }
  make_room(state, entries_max);
  log.entries[log.first + log.count] = entry;
  ++log.count;
}

std::int64_t used_in_log(const LimitState& state, std::int64_t at) noexcept {
  return live_at(state, at).sum;
}

void change_log(const Limit& limit, LimitState& state, std::int64_t at) noexcept {
  drop_expired(state, at);
  state.window_seconds = static_cast<std::uint32_t>(limit.window.count());
  drop_expired(state, at);
  state.last = at;
}

}  // namespace penstock::core
