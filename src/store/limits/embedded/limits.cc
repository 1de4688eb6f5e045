#include "store/limits/embedded/limits.h"

#include <utility>

#include "engine/rocksdb/records.h"
#include "store/limits/embedded/policy_encoding.h"

namespace penstock::store::embedded {

Result<std::optional<core::Policy>> EmbeddedPolicies::find(std::string_view key) {
  std::optional<core::Policy> policy = writer_.policies.newest(key);
  if (!policy || policy->deleted) return std::nullopt;
  return policy;
}

Result<core::Policy> EmbeddedPolicies::create(const core::PolicyDraft& draft,
                                              std::optional<Instant> now) {
  PENSTOCK_TRY(check_record(draft));
  return change(PolicyChange::create, draft, now);
}

Result<core::Policy> EmbeddedPolicies::update(const core::PolicyDraft& draft,
                                              std::optional<Instant> now) {
  PENSTOCK_TRY(check_record(draft));
  return change(PolicyChange::update, draft, now);
}

Result<void> EmbeddedPolicies::remove(std::string_view key, std::optional<Instant> now) {
  core::PolicyDraft draft;
  draft.key = key;
  PENSTOCK_TRY(change(PolicyChange::remove, draft, now));
  return {};
}

Result<core::Policy> EmbeddedPolicies::change(PolicyChange kind, const core::PolicyDraft& draft,
                                              std::optional<Instant> now) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  core::Policy policy = PENSTOCK_TRY(next_version(kind, draft, writer_.policies.newest(draft.key),
                                                  writer_.policies.next_id(), writer_.at(now)));
  const std::uint64_t revision = writer_.policies.revision() + 1;
  Changes changes(view);
  changes.put(Family::throttle_policy, policy_record_key(draft.key, policy.version),
              encode_policy(policy));
  changes.put(Family::meta, kPolicyRevisionKey, encode_revision(revision));
  PENSTOCK_TRY(changes.commit(writer_.engine));
  writer_.policies.set(policy, revision);
  return policy;
}

Result<std::vector<core::Policy>> EmbeddedPolicies::list(std::string_view after,
                                                         std::size_t limit) {
  return writer_.policies.list(after, limit);
}

Result<std::vector<core::Policy>> EmbeddedPolicies::history(std::string_view key,
                                                            std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  return read_range(view, Family::throttle_policy, policy_record_key(key),
                    behind(policy_record_key(key)), limit, decode_policy);
}

Result<std::uint64_t> EmbeddedPolicies::revision() { return writer_.policies.revision(); }

Result<void> EmbeddedLimitArchive::save(std::span<const SavedLimit> limits) {
  if (limits.empty()) return {};
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  Changes changes(view);
  for (const SavedLimit& limit : limits) {
    if (limit.state.empty()) {
      changes.remove(Family::throttle_usage, limit.key);
    } else {
      changes.put(Family::throttle_usage, limit.key, limit.state);
    }
  }
  return changes.commit(writer_.engine);
}

Result<void> EmbeddedLimitArchive::load(const Visit& visit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  Cursor rows(view, Family::throttle_usage, {}, {});
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    PENSTOCK_TRY(visit(rows.key(), rows.value()));
  }
  return {};
}

}  // namespace penstock::store::embedded
