// The ports of throttle on the engine: policies, and the archive of usage that lives in memory.
// Safe on any thread: what changes something takes the writer's mutex for one commit, the rest only
// reads.
#pragma once

#include "store/embedded/writer.h"
#include "store/limits/policy_change.h"
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
  Result<core::Policy> change(PolicyChange kind, const core::PolicyDraft& draft,
                              std::optional<Instant> now);

  Writer& writer_;
};

class EmbeddedLimitArchive final : public LimitArchive {
 public:
  explicit EmbeddedLimitArchive(Writer& writer) : writer_(writer) {}

  Result<void> save(std::span<const SavedLimit> limits) override;
  Result<void> load(const Visit& visit) override;

 private:
  Writer& writer_;
};

}  // namespace penstock::store::embedded
