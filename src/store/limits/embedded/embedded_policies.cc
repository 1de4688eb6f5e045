#include "store/limits/embedded/embedded_policies.h"

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include <utility>

#include "core/policy/policy_rules.h"
#include "store/limits/embedded/policy_encoding.h"

namespace penstock::store::embedded {
namespace {

std::unexpected<Error> no_policy(std::string_view key) {
  return fail(ErrorKind::not_found, fmt::format("there is no policy with the key '{}'", key));
}

}  // namespace

Result<std::optional<core::Policy>> EmbeddedPolicies::find(std::string_view key) {
  std::optional<core::Policy> policy = writer_.policies.newest(key);
  if (!policy || policy->deleted) return std::nullopt;
  return policy;
}

Result<core::Policy> EmbeddedPolicies::create(const core::PolicyDraft& draft,
                                              std::optional<Instant> now) {
  if (Result<void> valid = core::validate(draft); !valid) return std::unexpected(valid.error());
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const std::optional<core::Policy> before = writer_.policies.newest(draft.key);
  if (before && !before->deleted) {
    return fail(ErrorKind::conflict,
                fmt::format("there is a policy with the key '{}' already", draft.key));
  }
  return append(draft, before, /*deleted=*/false, now);
}

Result<core::Policy> EmbeddedPolicies::update(const core::PolicyDraft& draft,
                                              std::optional<Instant> now) {
  if (Result<void> valid = core::validate(draft); !valid) return std::unexpected(valid.error());
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const std::optional<core::Policy> before = writer_.policies.newest(draft.key);
  if (!before || before->deleted) return no_policy(draft.key);
  return append(draft, before, /*deleted=*/false, now);
}

Result<void> EmbeddedPolicies::remove(std::string_view key, std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return ready;
  const std::optional<core::Policy> before = writer_.policies.newest(key);
  if (!before || before->deleted) return no_policy(key);
  Result<core::Policy> end = append(before->draft, before, /*deleted=*/true, now);
  if (!end) return std::unexpected(std::move(end.error()));
  return {};
}

Result<core::Policy> EmbeddedPolicies::append(const core::PolicyDraft& draft,
                                              const std::optional<core::Policy>& before,
                                              bool deleted, std::optional<Instant> now) {
  core::Policy policy{.id = before ? before->id : writer_.policies.next_id(),
                      .version = before ? before->version + 1 : 1,
                      .draft = draft,
                      .changed = now.value_or(writer_.clock.now()),
                      .deleted = deleted};
  const std::uint64_t revision = writer_.policies.revision() + 1;
  {
    const Result<Engine::View> view = writer_.engine.view();
    if (!view) return std::unexpected(view.error());
    rocksdb::WriteBatch batch;
    rocksdb::Status status =
        batch.Put(view->family(Family::throttle_policy),
                  policy_record_key(draft.key, policy.version), encode_policy(policy));
    if (status.ok()) {
      status = batch.Put(view->family(Family::meta),
                         rocksdb::Slice(kPolicyRevisionKey.data(), kPolicyRevisionKey.size()),
                         encode_revision(revision));
    }
    if (!status.ok()) return std::unexpected(view->translate(status, "write"));
    if (Result<void> written = writer_.engine.commit(batch); !written) {
      return std::unexpected(std::move(written.error()));
    }
  }
  writer_.policies.set(policy, revision);
  return policy;
}

Result<std::vector<core::Policy>> EmbeddedPolicies::list(std::string_view after,
                                                         std::size_t limit) {
  return writer_.policies.list(after, limit);
}

Result<std::vector<core::Policy>> EmbeddedPolicies::history(std::string_view key,
                                                            std::size_t limit) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  return policy_versions(*view, key, limit);
}

Result<std::uint64_t> EmbeddedPolicies::revision() { return writer_.policies.revision(); }

}  // namespace penstock::store::embedded
