// Port: the versioned throttle policies. A backend proves itself with store/conformance/.
// Implementations are blocking and safe to call from several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/policy/policy.h"

namespace penstock::store {

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
};

}  // namespace penstock::store
