// Rate limits of one process, decided on the calling thread in well under a microsecond. Every
// member may be called from several threads at once.
//
// Usage is kept in memory by key, about 120 bytes each, and forgotten when it says nothing any
// more. When there are `max_keys`, a new key takes the place of one that used little of its limit;
// a key that is being denied goes only if nearly all are.
#pragma once

#include <penstock/decision.h>
#include <penstock/expected.h>
#include <penstock/export.h>
#include <penstock/policy.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace penstock {
inline namespace v0 {

// Time since 1970 for tests and simulations. Time that goes back counts as standing still.
using ClockFunction = std::chrono::microseconds (*)();

struct LimiterOptions {
  std::size_t max_keys = 2'000'000;
  Policy default_policy = {};  // for keys without a policy; its own key is not looked at
  // Null = the machine's monotonic clock: no step of the wall clock mints or freezes tokens.
  ClockFunction clock = nullptr;
};

// One entry of a batch.
struct Check {
  std::string_view key;
  std::int64_t cost = 1;
};

class BoundKey;

class PENSTOCK_API Limiter {
 public:
  static Expected<Limiter> make(const LimiterOptions& options = {});

  // A limiter that was moved from may only be destroyed or assigned to. A Filter stays valid when
  // its limiter is moved.
  Limiter(Limiter&& other) noexcept;
  Limiter& operator=(Limiter&& other) noexcept;
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;
  ~Limiter();

  // Adds the policy, or replaces the one with the same key. Counts at once and keeps the usage:
  // more capacity opens, less closes; another algorithm starts fresh.
  Expected<void> set_policy(const Policy& policy);
  Expected<void> set_default_policy(const Policy& policy);
  // False: there is no policy with exactly that key or pattern.
  bool remove_policy(std::string_view key);
  // The policy that counts for `key`; where that is the default one, its key is "default".
  Policy policy_for(std::string_view key) const;
  std::size_t policy_count() const;

  // Decides, and charges `cost` if it allows. A cost of 0 only looks.
  Decision check(std::string_view key, std::int64_t cost = 1);
  // The same over several keys at once: all allow and all are charged, or none is charged. A key
  // that stands there twice counts once.
  Decision check_all(std::span<const std::string_view> keys, std::int64_t cost = 1);
  // Every entry by itself, in order; about four times as fast as one by one when the keys are many,
  // since memory is asked for ahead. `decisions` has at least as many places.
  void check_batch(std::span<const Check> checks, std::span<Decision> decisions);

  // How things stand; charges nothing and is allowed unless the key is bad.
  Decision peek(std::string_view key) const;
  // Takes back `cost` of what was charged, never below nothing used.
  Decision give_back(std::string_view key, std::int64_t cost = 1);
  // The key, to be asked for again and again without being looked for each time.
  Expected<BoundKey> bind(std::string_view key) const;
  // Forgets the usage of a key. False: there was none.
  bool reset(std::string_view key);

  // Keys with usage.
  std::size_t key_count() const;

 private:
  friend class BoundKey;
  friend class Filter;
  class Impl;
  explicit Limiter(std::shared_ptr<Impl> impl) noexcept;
  std::shared_ptr<Impl> impl_;
};

// One key of a limiter that remembers where its usage is and which policy counts: for a limit that
// many requests share, such as that of a downstream. Takes about two thirds of the time of check(),
// and less where policies have patterns. It decides as the limiter does about the same key,
// whatever happens to policies and usage in between, and may outlive it. Every member may be called
// from several threads at once.
class PENSTOCK_API BoundKey {
 public:
  // One that was moved from may only be destroyed or assigned to.
  BoundKey(BoundKey&& other) noexcept;
  BoundKey& operator=(BoundKey&& other) noexcept;
  BoundKey(const BoundKey&) = delete;
  BoundKey& operator=(const BoundKey&) = delete;
  ~BoundKey();

  // As those of Limiter. Decision::key is a view of key().
  Decision check(std::int64_t cost = 1);
  Decision peek() const;
  Decision give_back(std::int64_t cost = 1);

  // Valid while this, or what it was moved to, lives.
  std::string_view key() const noexcept;

 private:
  friend class Limiter;
  struct Impl;
  explicit BoundKey(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace penstock
