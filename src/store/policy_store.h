// Port: the versioned throttle policies. A backend proves itself with store/conformance/.
// Implementations are blocking and safe to call from several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/policy/policy.h"

namespace penstock::store {

class PolicyRecovery;

class PolicyStore {
 public:
  PolicyStore() = default;
  PolicyStore(const PolicyStore&) = delete;
  PolicyStore& operator=(const PolicyStore&) = delete;
  virtual ~PolicyStore() = default;

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
class PolicyRecovery {
 public:
  virtual ~PolicyRecovery() = default;

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

}  // namespace penstock::store
