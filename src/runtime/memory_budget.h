// The memory that work under way may take: one budget for a whole process. Whoever holds bytes on
// their way between a socket and a store holds a Charge for them. What finds no room is refused or
// waits. Safe on any thread, without locks.
//
// Large charges leave an eighth of the budget to small ones: clients with large batches cannot keep
// everybody else from being served.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "runtime/metrics.h"

namespace penstock::runtime {

class MemoryBudget;

// A part of the budget, given back when this is destroyed. One thread at a time.
class Charge {
 public:
  Charge() noexcept = default;  // of no budget: can only be replaced
  // Nothing yet. The budget must outlive the charge.
  explicit Charge(MemoryBudget& budget) noexcept : budget_(&budget) {}
  Charge(Charge&& other) noexcept
      : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    other.force(0);
    return *this;
  }
  ~Charge() { force(0); }

  std::size_t bytes() const noexcept { return bytes_; }
  // Becomes that large. False: there is no room, and nothing has changed. Less always works.
  [[nodiscard]] bool try_resize(std::size_t bytes) noexcept;
  // The same for memory that is in use already, whether or not there is room.
  void force(std::size_t bytes) noexcept;

 private:
  MemoryBudget* budget_ = nullptr;
  std::size_t bytes_ = 0;
};

class MemoryBudget {
 public:
  // A charge up to this size is small: a call of its own, not a batch.
  static constexpr std::size_t kSmallBytes = 64 * 1024;
  // The part of the budget that large charges leave alone.
  static constexpr std::size_t kSmallShare = 8;

  // `metrics` shows the budget and must not be printed after its end.
  MemoryBudget(std::size_t max_bytes, Metrics& metrics);
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // None: there is no room.
  std::optional<Charge> try_take(std::size_t bytes) noexcept;
  // Whether there is room now, for what will be taken bit by bit.
  bool has_room(std::size_t bytes) noexcept;

  std::size_t max() const noexcept { return max_; }
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  // What large charges may still take.
  std::size_t available() const noexcept;

 private:
  friend class Charge;
  std::size_t limit(bool small) const noexcept { return small ? max_ : large_max_; }
  bool try_add(std::size_t bytes, bool small) noexcept;
  void add(std::size_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void subtract(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  const std::size_t max_;
  const std::size_t large_max_;
  Counter& refusals_;
  std::atomic<std::size_t> used_{0};
};

// Bytes of the machine, or of the control group if that has less.
std::uint64_t machine_memory_bytes();

// "max", a number, or anything else: what a control group allows. None: it does not limit.
std::optional<std::uint64_t> parse_memory_max(const std::string& text);

// The budget of a machine with that much memory: a quarter of it, at most 1 GiB.
std::size_t default_memory_budget(std::uint64_t machine_bytes) noexcept;

}  // namespace penstock::runtime
