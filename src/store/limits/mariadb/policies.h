// PolicyStore on the table throttle_policy: every version is a row, changes come one after the
// other. Thread-safe.
#pragma once

#include <string>

#include "engine/mariadb/pool.h"
#include "store/limits/policy_change.h"
#include "store/limits/ports.h"

namespace penstock::store::mariadb {

class Policies final : public PolicyStore {
 public:
  Policies(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<std::optional<core::Policy>> find(std::string_view key) override;
  Result<core::Policy> create(const core::PolicyDraft& draft, std::optional<Instant> now) override;
  Result<core::Policy> update(const core::PolicyDraft& draft, std::optional<Instant> now) override;
  Result<void> remove(std::string_view key, std::optional<Instant> now) override;
  Result<std::vector<core::Policy>> list(std::string_view after, std::size_t limit) override;
  Result<std::vector<core::Policy>> history(std::string_view key, std::size_t limit) override;
  Result<std::uint64_t> revision() override;

 private:
  Result<core::Policy> change(PolicyChange kind, const core::PolicyDraft& draft,
                              std::optional<Instant> now);
  Result<std::vector<core::Policy>> read(std::string statement);

  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::mariadb
