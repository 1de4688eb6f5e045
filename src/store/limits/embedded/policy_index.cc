#include "store/limits/embedded/policy_index.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/rocksdb/cursor.h"
#include "store/limits/embedded/policy_encoding.h"

namespace penstock::store::embedded {
namespace {

Result<std::uint64_t> read_policies_revision(const Engine::View& view) {
  std::string value;
  const rocksdb::Status status =
      view.db().Get(rocksdb::ReadOptions(), view.family(Family::meta),
                    rocksdb::Slice(kPolicyRevisionKey.data(), kPolicyRevisionKey.size()), &value);
  if (status.IsNotFound()) return 0;
  if (!status.ok()) return std::unexpected(view.translate(status, "read the database"));
  Result<std::uint64_t> revision = decode_revision(value);
  if (!revision) return std::unexpected(view.in_folder(std::move(revision.error())));
  return revision;
}

}  // namespace

Result<void> PolicyIndex::load(const Engine::View& view) {
  const Result<std::uint64_t> revision = read_policies_revision(view);
  if (!revision) return std::unexpected(revision.error());
  Policies fresh;
  std::int64_t id_max = 0;
  Cursor cursor(view, Family::throttle_policy, "", "");
  while (cursor.valid()) {
    Result<core::Policy> policy = decode_policy(cursor.key(), cursor.value());
    if (!policy) return std::unexpected(view.in_folder(std::move(policy.error())));
    std::string key = policy->draft.key;
    cursor.seek(behind(policy_record_key(key)));
    id_max = std::max(id_max, policy->id);
    fresh.insert_or_assign(std::move(key), std::move(*policy));
  }
  if (Result<void> status = cursor.status(); !status) return status;
  const std::lock_guard lock(mutex_);
  policies_.swap(fresh);
  revision_ = *revision;
  id_max_ = id_max;
  return {};
}

std::optional<core::Policy> PolicyIndex::newest(std::string_view key) const {
  const std::shared_lock lock(mutex_);
  const auto found = policies_.find(key);
  if (found == policies_.end()) return std::nullopt;
  return found->second;
}

std::vector<core::Policy> PolicyIndex::list(std::string_view after, std::size_t limit) const {
  const std::shared_lock lock(mutex_);
  std::vector<core::Policy> policies;
  for (auto at = policies_.upper_bound(after); at != policies_.end() && policies.size() < limit;
       ++at) {
    if (!at->second.deleted) policies.push_back(at->second);
  }
  return policies;
}

std::uint64_t PolicyIndex::revision() const {
  const std::shared_lock lock(mutex_);
  return revision_;
}

std::int64_t PolicyIndex::next_id() const {
  const std::shared_lock lock(mutex_);
  return id_max_ + 1;
}

void PolicyIndex::set(const core::Policy& policy, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  policies_.insert_or_assign(policy.draft.key, policy);
  revision_ = revision;
  id_max_ = std::max(id_max_, policy.id);
}

Result<std::vector<core::Policy>> policy_versions(const Engine::View& view, std::string_view key,
                                                  std::size_t limit) {
  std::vector<core::Policy> versions;
  Cursor cursor(view, Family::throttle_policy, policy_record_key(key),
                behind(policy_record_key(key)));
  for (; cursor.valid() && versions.size() < limit; cursor.next()) {
    Result<core::Policy> policy = decode_policy(cursor.key(), cursor.value());
    if (!policy) return std::unexpected(view.in_folder(std::move(policy.error())));
    versions.push_back(std::move(*policy));
  }
  if (!cursor.valid()) {
    if (Result<void> status = cursor.status(); !status) return std::unexpected(status.error());
  }
  return versions;
}

}  // namespace penstock::store::embedded
