// PolicyStore on the engine. Safe on any thread: changes take the writer's mutex, the rest only
// reads.
#pragma once

#include "store/embedded/writer.h"
#include "store/limits/ports.h"

namespace penstock::store::embedded {

class EmbeddedPolicies final : public PolicyStore {
 public:
  explicit EmbeddedPolicies(Writer& writer) : writer_(writer) {}

  Result<std::optional<core::Policy>> find(std::string_view key) override;
  Result<core::Policy> create(const core::PolicyDraft& draft, std::optional<Instant> now) override;
  Result<core::Policy> update(const core::PolicyDraft& draft, std::optional<Instant> now) override;
  Result<void> remove(std::string_view key, std::optional<Instant> now) override;
  Result<std::vector<core::Policy>> list(std::string_view after, std::size_t limit) override;
  Result<std::vector<core::Policy>> history(std::string_view key, std::size_t limit) override;
  Result<std::uint64_t> revision() override;

 private:
  // The next version behind `before`, durably; holding the writer's mutex.
  Result<core::Policy> append(const core::PolicyDraft& draft,
                              const std::optional<core::Policy>& before, bool deleted,
                              std::optional<Instant> now);

  Writer& writer_;
};

}  // namespace penstock::store::embedded
