#include "front/guesses.h"
#include "runtime/clocks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace penstock::front {
namespace {

constexpr std::array<std::string_view, 2> kFronts{"http", "resp"};

runtime::Counter& wrong_counter(runtime::Metrics& metrics, GuessFront front) {
  return metrics.counter("penstock_auth_failures_total",
                         "Requests with a wrong token, logins with a wrong password",
                         {{"front", std::string(kFronts[static_cast<std::size_t>(front)])}});
}

std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93U;
  return value ^ (value >> 32);
}

}  // namespace

Guesses::Guesses(Log& log, runtime::Metrics& metrics)
    : log_(log),
      wrong_{&wrong_counter(metrics, GuessFront::http), &wrong_counter(metrics, GuessFront::resp)},
      seed_(runtime::random_seed()),
      entries_(kAddresses) {}

std::optional<Seconds> Guesses::judge(const Attempt& attempt) {
  const std::chrono::duration<double> now{since_start_.seconds()};
  return judge(attempt, std::chrono::duration_cast<Micros>(now));
}

std::optional<Seconds> Guesses::judge(const Attempt& attempt, Micros now) {
  constexpr std::size_t kCustomerBits = 64;
  const wire::IpAddress network =
      attempt.address.is_v4() ? attempt.address : attempt.address.prefix(kCustomerBits);
  const std::lock_guard lock(mutex_);
  Entry& entry = entry_of(network, now);
  const Micros over_at = entry.since + kPeriod;
  const bool waits = entry.wrong >= kWrongMax && now < over_at;
  if (attempt.secret == SecretKind::wrong) {
    note_wrong(entry, attempt, now);
  } else {
    const auto bit = std::to_underlying(attempt.secret);
    if (!waits) entry.known |= bit;
    if ((entry.known & bit) != 0) return std::nullopt;
  }
  if (!waits) return std::nullopt;
  return std::chrono::ceil<Seconds>(over_at - now);
}

Guesses::Entry& Guesses::entry_of(const wire::IpAddress& network, Micros now) {
  std::array<std::uint64_t, 2> halves;
  std::memcpy(halves.data(), network.bytes.data(), sizeof halves);
  const std::uint64_t hash = mixed(mixed(halves[0] ^ seed_) ^ halves[1]);
  const auto set = std::span(entries_).subspan(hash % (kAddresses / kWays) * kWays, kWays);
  auto found = std::ranges::find_if(set, [&](const Entry& each) {
    return each.used != Micros::min() && each.network == network;
  });
  if (found == set.end()) {
    found = std::ranges::min_element(set, {}, &Entry::used);
    *found = Entry{.network = network};
  }
  found->used = now;
  return *found;
}

void Guesses::note_wrong(Entry& entry, const Attempt& attempt, Micros now) {
  wrong_[static_cast<std::size_t>(attempt.front)]->add();
  if (now >= entry.since + kPeriod) entry.wrong = 0;
  if (entry.wrong == 0) entry.since = now;
  if (entry.wrong <= kWrongMax) ++entry.wrong;
  ++entry.unsaid;
  if (entry.wrong == 1) say("auth.failed", entry, attempt, now);
  if (entry.wrong == kWrongMax) say("auth.slowed", entry, attempt, now);
}

// At most two lines for each address in a period, and kLinesMax for all.
void Guesses::say(std::string_view event, Entry& entry, const Attempt& attempt, Micros now) {
  if (now >= lines_since_ + kPeriod) {
    lines_since_ = now;
    lines_ = 0;
  }
  if (lines_ >= kLinesMax) return;
  ++lines_;
  std::string peer;
  wire::append_ip_address(peer, attempt.address);
  log_.warn(event, {{"peer", peer},
                    {"front", kFronts[static_cast<std::size_t>(attempt.front)]},
                    {"failures", std::exchange(entry.unsaid, 0)}});
}

}  // namespace penstock::front
