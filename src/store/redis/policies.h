// PolicyStore on Redis: all policies in one slot, changed by one script. As durable as Redis is set
// up to be.
#pragma once

#include <string>

#include "store/policy_store.h"
#include "store/redis/client.h"

namespace penstock::store::redis {

class Policies final : public PolicyStore {
 public:
  // `client` outlives this.
  Policies(Client& client, std::string_view prefix);

  Result<std::optional<core::Policy>> find(std::string_view key) override;
  Result<core::Policy> create(const core::PolicyDraft& draft, std::optional<Instant> now) override;
  Result<core::Policy> update(const core::PolicyDraft& draft, std::optional<Instant> now) override;
  Result<void> remove(std::string_view key, std::optional<Instant> now) override;
  Result<std::vector<core::Policy>> list(std::string_view after, std::size_t limit) override;
  Result<std::vector<core::Policy>> history(std::string_view key, std::size_t limit) override;
  Result<std::uint64_t> revision() override;

 private:
  Result<core::Policy> change(std::string_view what, std::string_view key, std::string_view draft,
                              std::optional<Instant> now);
  std::string history_of(std::string_view key) const;

  Client& client_;
  const std::string tag_;
  const std::string newest_;
  const std::string names_;
  const std::string revision_;
};

}  // namespace penstock::store::redis
