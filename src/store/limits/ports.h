// Ports of throttle: what keys have used, the policies, and who shares them.
// Blocking; thread-safe; what changes something is durable when it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/limits/limit.h"
#include "core/policy/policy.h"
#include "store/port.h"

namespace penstock::store {

// Keys whose limit comes with each call (CL.THROTTLE) share the table with those of policies. They
// have a character before them that no key of a policy may contain, so the two never meet.

inline constexpr char kClientLimitPrefix = '\x01';

// Whether no policy says what the limit of the key is.
constexpr bool has_client_limit(std::string_view key) noexcept {
  return key.starts_with(kClientLimitPrefix);
}

// Keys may be any bytes: people's are UTF-8, those of Redis clients what they like.
inline constexpr std::size_t kLimitKeyBytesMax = 512;

inline bool is_limit_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= kLimitKeyBytesMax;
}

// One key and the limit that applies to it now. The usage of a key outlives changes of its limit:
// more capacity opens at once, less closes at once; another type starts fresh.
struct LimitCheck {
  std::string_view key;
  core::Limit limit;
  bool shadow = false;  // never denies; charged only if it would have admitted
};

// Several checks stand or fall together: every one admits, or none is charged.
struct LimitRequest {
  std::span<const LimitCheck> checks;     // keys differ; at least one
  std::int64_t cost = 1;                  // 0 = look without writing; negative = give back
  std::span<core::LimitStatus> statuses;  // out: one per check, in their order
};

struct LimitAnswer {
  bool admitted = false;
  // The check that bound: of a denial the one with the longest wait (kNever is longest), of an
  // admission the one with the least remaining; the first of equals. Shadow checks bind only when
  // there are no others.
  std::size_t bound = 0;
};

// What is known of one key, for people.
struct KeyUse {
  std::string key;
  core::Limit limit;              // that it was last judged by
  std::int64_t used = 0;          // tokens, rounded up
  std::int64_t window_count = 0;  // cost admitted in the last window
};

// The usage of throttle keys. A backend proves itself with store/conformance/. Safe to call from
// several threads at once. The memory backend decides on the calling thread and never blocks;
// others block for one round trip per call, whatever the size of the batch.
class LimitStore : public Port {
 public:
  // Decides in the order of `requests`, each atomically; `answers` has one place per request. A
  // request with something that is no key is `invalid`, alone.
  // `now` empty = the backend's clock.
  virtual void apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
                     std::span<Result<LimitAnswer>> answers) = 0;

  // Forgets all usage of `key`. False: there was none.
  virtual Result<bool> reset(std::string_view key) = 0;

  virtual Result<std::optional<KeyUse>> find(std::string_view key, std::optional<Instant> now) = 0;

  // Keys with usage in the order of their bytes, after `after` (empty = from the start).
  virtual Result<std::vector<KeyUse>> list(std::string_view after, std::size_t limit,
                                           std::optional<Instant> now) = 0;
};

// The versioned throttle policies. A backend proves itself with store/conformance/. Implementations
// are blocking and safe to call from several threads at once.
class PolicyRecovery;

class PolicyStore : public Port {
 public:
  virtual Result<std::optional<core::Policy>> find(std::string_view key) = 0;

  // Durable when they return. create: `conflict` when the key has a policy. update and remove:
  // `not_found` when it has none. A key that is created again goes on counting versions and keeps
  // its id.
  virtual Result<core::Policy> create(const core::PolicyDraft& draft,
                                      std::optional<Instant> now) = 0;
  virtual Result<core::Policy> update(const core::PolicyDraft& draft,
                                      std::optional<Instant> now) = 0;
  virtual Result<void> remove(std::string_view key, std::optional<Instant> now) = 0;

  // The policies in force, in the order of their keys, after `after` (empty = from the start).
  virtual Result<std::vector<core::Policy>> list(std::string_view after, std::size_t limit) = 0;

  // All versions of `key`, newest first, the ends (deleted) among them.
  virtual Result<std::vector<core::Policy>> history(std::string_view key, std::size_t limit) = 0;

  // Grows with every change of any policy: a cheap way to learn that a copy is still good.
  virtual Result<std::uint64_t> revision() = 0;

  // Null unless the store may come back empty or older than it was.
  virtual PolicyRecovery* recovery() noexcept { return nullptr; }
};

// What such a store offers besides, so that nodes can notice a loss and undo it. The version of a
// key only grows: a store that has a lower one than a node knows has lost something.
class PolicyRecovery : public Port {
 public:
  // Like PolicyStore::revision(), and differs too when the store was emptied in between.
  struct Mark {
    std::string epoch;
    std::uint64_t revision = 0;
    bool operator==(const Mark&) const = default;
  };
  virtual Result<Mark> mark() = 0;

  // The newest version of every key, the ends (deleted) among them, in any order.
  virtual Result<std::vector<core::Policy>> newest() = 0;

  // Writes each version that is higher than what the store has of its key, and takes care that no
  // fresh id is one of theirs; how many were written. Several nodes may do so at once.
  virtual Result<std::size_t> restore(std::span<const core::Policy> versions) = 0;
};

// The usage of a key as bytes; empty = forget the key.
struct SavedLimit {
  std::string key;
  std::string state;
};

// Where the usage of throttle keys that lives in memory is kept across restarts. Blocking; safe on
// any thread.
class LimitArchive : public Port {
 public:
  using Visit = std::function<Result<void>(std::string_view key, std::string_view state)>;

  // All or none of `changes`, durable when it returns; of one key, what comes later is newer.
  virtual Result<void> save(std::span<const SavedLimit> changes) = 0;

  // Everything that is kept; an error of `visit` ends the walk.
  virtual Result<void> load(const Visit& visit) = 0;
};

// Cleans an engine of keys whose usage says nothing any more. Only engines that do not let keys
// expire by themselves offer it. Blocking; one caller at a time on each node.
class LimitSweep : public Port {
 public:
  struct Swept {
    std::size_t seen = 0;
    std::size_t dropped = 0;
    bool round_done = false;  // every key was looked at; the next call starts over
  };

  // Looks at the next `keys` keys in turn and drops the idle ones, in one short transaction. `now`
  // empty = the engine's clock.
  virtual Result<Swept> sweep(std::size_t keys, std::optional<Instant> now) = 0;
};

// Which nodes share this engine right now. Blocking; safe on any thread.
class NodeRegistry : public Port {
 public:
  // Says that `node` is alive, and counts the nodes that said so within the last `within` of the
  // engine's time, this one included. Older ones are forgotten.
  virtual Result<std::size_t> beat(std::string_view node, Millis within) = 0;

  // The node goes in good order: the others need not wait until it is forgotten.
  virtual Result<void> leave(std::string_view node) = 0;
};

// What an engine offers of this capability; null = not this.
struct LimitPorts {
  LimitStore* store = nullptr;
  PolicyStore* policies = nullptr;
  LimitArchive* archive = nullptr;  // for limits that live in memory
  LimitSweep* sweep = nullptr;      // only of an engine that does not forget by itself
  NodeRegistry* nodes = nullptr;    // only of a store that nodes share
};

}  // namespace penstock::store
