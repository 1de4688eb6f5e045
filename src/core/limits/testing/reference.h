// What each kind of limit means, as slowly and plainly as it can be written, with exact fractions
// and lists of events. Shares nothing with the code under test but the plain data. For tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/time.h"
#include "core/limits/limit.h"

namespace penstock::core {

// Every kind of limit.
inline constexpr std::array kAllTypes = {
    LimitType::token_bucket, LimitType::gcra, LimitType::sliding_window,
    LimitType::sliding_window_counter, LimitType::fixed_window};

}  // namespace penstock::core

namespace penstock::core::reference {

__extension__ using Int = __int128;

inline Int floor_div(Int a, Int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
inline Int ceil_div(Int a, Int b) { return -floor_div(-a, b); }

// n / d with d > 0. Not reduced: numbers of one denominator are compared without multiplying.
struct Fraction {
  Int n = 0;
  Int d = 1;

  friend Fraction operator+(Fraction a, Fraction b) {
    return a.d == b.d ? Fraction{a.n + b.n, a.d} : Fraction{a.n * b.d + b.n * a.d, a.d * b.d};
  }
  friend Fraction operator-(Fraction a, Fraction b) { return a + Fraction{-b.n, b.d}; }
  friend bool operator<=(Fraction a, Fraction b) {
    return a.d == b.d ? a.n <= b.n : a.n * b.d <= b.n * a.d;
  }
  Int floor() const { return floor_div(n, d); }
  Int ceil() const { return ceil_div(n, d); }
};

inline std::int64_t micros_of(Instant instant) { return instant.time_since_epoch().count(); }

// Tokens in use as a function of time; a cost fits if it and they stay within the capacity.
class Reference {
 public:
  virtual ~Reference() = default;

  bool admits(std::int64_t capacity, std::int64_t cost, Instant now) const {
    if (cost <= 0) return true;
    return used(now) + Fraction{cost} <= Fraction{capacity};
  }
  std::int64_t used_up(Instant now) const { return static_cast<std::int64_t>(used(now).ceil()); }
  std::int64_t remaining(std::int64_t capacity, Instant now) const {
    const Int left = (Fraction{capacity} - used(now)).floor();
    return static_cast<std::int64_t>(std::max<Int>(left, 0));
  }

  Fraction used(Instant now) const { return used_at(std::max(micros_of(now), last_)); }
  void charge(std::int64_t cost, Instant now) {
    last_ = std::max(micros_of(now), last_);
    charge_at(cost, last_);
  }
  // The rate or the window changes.
  void change(const Limit& limit, Instant now) {
    last_ = std::max(micros_of(now), last_);
    change_at(limit, last_);
  }

 protected:
  virtual Fraction used_at(std::int64_t now) const = 0;
  virtual void charge_at(std::int64_t cost, std::int64_t now) = 0;
  virtual void change_at(const Limit& limit, std::int64_t now) = 0;

 private:
  std::int64_t last_ = 0;
};

class Bucket final : public Reference {
 public:
  explicit Bucket(const Limit& limit) : rate_(limit.refill) {}

 protected:
  Fraction used_at(std::int64_t now) const override {
    const Fraction drained{static_cast<Int>(now - since_) * rate_.tokens, rate_.micros};
    const Fraction used = used_ - drained;
    return used <= Fraction{0} ? Fraction{0, rate_.micros} : used;
  }
  void charge_at(std::int64_t cost, std::int64_t now) override {
    const Fraction used =
        used_at(now) + Fraction{static_cast<Int>(cost) * rate_.micros, rate_.micros};
    used_ = used <= Fraction{0} ? Fraction{0, rate_.micros} : used;
    since_ = now;
  }
  void change_at(const Limit& limit, std::int64_t now) override {
    const Fraction used = used_at(now);
    rate_ = limit.refill;
    used_ = {ceil_div(used.n * rate_.micros, used.d), rate_.micros};
    since_ = now;
  }

 private:
  Rate rate_;
  Fraction used_;
  std::int64_t since_ = 0;
};

// The textbook: a theoretical arrival time that moves on by an interval for each token.
class Gcra final : public Reference {
 public:
  explicit Gcra(const Limit& limit) : rate_(limit.refill), tat_{0, limit.refill.tokens} {}

 protected:
  Fraction used_at(std::int64_t now) const override {
    const Fraction backlog = tat_ - time(now);
    if (backlog <= Fraction{0}) return {0, rate_.micros};
    // Time in 1 / tokens micros: over the interval, that many 1 / micros tokens.
    return {backlog.n, rate_.micros};
  }
  void charge_at(std::int64_t cost, std::int64_t now) override {
    tat_ = latest(tat_, time(now));
    tat_ = tat_ + Fraction{static_cast<Int>(cost) * rate_.micros, rate_.tokens};
    tat_ = latest(tat_, time(now));
  }
  void change_at(const Limit& limit, std::int64_t now) override {
    const Fraction used = used_at(now);
    rate_ = limit.refill;
    tat_ = time(now) + Fraction{ceil_div(used.n * rate_.micros, used.d), rate_.tokens};
  }

 private:
  Fraction time(std::int64_t micros) const {
    return {static_cast<Int>(micros) * rate_.tokens, rate_.tokens};
  }
  static Fraction latest(Fraction a, Fraction b) { return a <= b ? b : a; }

  Rate rate_;
  Fraction tat_;
};

struct Event {
  std::int64_t at = 0;
  std::int64_t cost = 0;
};

// Takes `amount` from the newest events.
inline void take_newest(std::vector<Event>& events, std::int64_t amount) {
  while (amount > 0 && !events.empty()) {
    const std::int64_t taken = std::min(events.back().cost, amount);
    events.back().cost -= taken;
    amount -= taken;
    if (events.back().cost == 0) events.pop_back();
  }
}

class Log final : public Reference {
 public:
  explicit Log(const Limit& limit) : window_(Micros{limit.window}.count()) {}

 protected:
  Fraction used_at(std::int64_t now) const override {
    Int sum = 0;
    for (const Event& event : events_) sum += event.at + window_ > now ? event.cost : 0;
    return {sum};
  }
  void charge_at(std::int64_t cost, std::int64_t now) override {
    forget(now);
    if (cost > 0) events_.push_back({now, cost});
    if (cost < 0) take_newest(events_, -std::max(cost, -kCapacityMax));
  }
  void change_at(const Limit& limit, std::int64_t now) override {
    forget(now);
    window_ = Micros{limit.window}.count();
    forget(now);
  }

 private:
  void forget(std::int64_t now) {
    std::erase_if(events_, [&](const Event& event) { return event.at + window_ <= now; });
  }

  std::int64_t window_;
  std::vector<Event> events_;
};

// Counts per window of the epoch. `weigh` = the window before counts by the part still in reach.
class Windows final : public Reference {
 public:
  Windows(const Limit& limit, bool weigh) : window_(Micros{limit.window}.count()), weigh_(weigh) {}

 protected:
  Fraction used_at(std::int64_t now) const override {
    const std::int64_t index = now / window_;
    const Fraction current{static_cast<Int>(count(index)) * window_, window_};
    if (!weigh_) return current;
    const std::int64_t rest = (index + 1) * window_ - now;
    return current + Fraction{static_cast<Int>(count(index - 1)) * rest, window_};
  }
  void charge_at(std::int64_t cost, std::int64_t now) override {
    const std::int64_t index = now / window_;
    if (cost >= 0) {
      counts_[index] += cost;
      return;
    }
    std::int64_t amount = -std::max(cost, -kCapacityMax);
    for (const std::int64_t i : {index, index - 1}) {
      if (i < index && !weigh_) break;
      const std::int64_t taken = std::min(counts_[i], amount);
      counts_[i] -= taken;
      amount -= taken;
    }
  }
  void change_at(const Limit& limit, std::int64_t now) override {
    const auto used = static_cast<std::int64_t>(used_at(now).ceil());
    window_ = Micros{limit.window}.count();
    counts_ = {{now / window_, used}};
  }

 private:
  std::int64_t count(std::int64_t index) const {
    const auto found = counts_.find(index);
    return found == counts_.end() ? 0 : found->second;
  }

  std::int64_t window_;
  bool weigh_;
  std::map<std::int64_t, std::int64_t> counts_;
};

inline std::unique_ptr<Reference> make(const Limit& limit) {
  switch (limit.type) {
    case LimitType::token_bucket:
      return std::make_unique<Bucket>(limit);
    case LimitType::gcra:
      return std::make_unique<Gcra>(limit);
    case LimitType::sliding_window:
      return std::make_unique<Log>(limit);
    case LimitType::sliding_window_counter:
      return std::make_unique<Windows>(limit, true);
    case LimitType::fixed_window:
      return std::make_unique<Windows>(limit, false);
  }
  return nullptr;
}

}  // namespace penstock::core::reference
