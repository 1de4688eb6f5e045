#include "store/limits/postgres/policies.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "core/policy/policy_rules.h"
#include "engine/postgres/calls.h"

namespace penstock::store::postgres {
namespace {

Result<core::Policy> policy_of(const Rows& rows, int row) {
  const auto type = core::limit_type_of(rows.text(row, 3));
  const auto mode = core::on_store_failure_of(rows.text(row, 10));
  if (!type || !mode) {
    return fail(ErrorKind::corrupt, "throttle_policy holds a word that this program does not know");
  }
  return core::Policy{
      .id = rows.int8(row, 0),
      .version = rows.int8(row, 1),
      .draft = {.key = std::string(rows.text(row, 2)),
                .limit = {.type = *type,
                          .capacity = rows.int8(row, 4),
                          .refill = {.tokens = rows.int8(row, 5), .micros = rows.int8(row, 6)},
                          .window = Seconds{rows.int8(row, 8)}},
                .refill_text = std::string(rows.text(row, 7)),
                .shadow = rows.boolean(row, 9),
                .on_store_failure = *mode},
      .changed = Instant{Micros{rows.int8(row, 11)}},
      .deleted = rows.boolean(row, 12)};
}

Params params_of(const core::Policy& policy) {
  const core::Limit& limit = policy.draft.limit;
  return Params()
      .int8(policy.id)
      .int8(policy.version)
      .text(policy.draft.key)
      .text(core::limit_type_name(limit.type))
      .int8(limit.capacity)
      .int8(limit.refill.tokens)
      .int8(limit.refill.micros)
      .text(policy.draft.refill_text)
      .int8(limit.window.count())
      .boolean(policy.draft.shadow)
      .text(core::on_store_failure_name(policy.draft.on_store_failure))
      .int8(policy.changed.time_since_epoch().count())
      .boolean(policy.deleted);
}

}  // namespace

Result<std::vector<core::Policy>> Policies::read(const Call& call) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto rows = (*lease)->run(call, deadline);
  if (!rows) return std::unexpected(rows.error().error);
  std::vector<core::Policy> policies;
  for (int row = 0; row < rows->size(); ++row) {
    Result<core::Policy> policy = policy_of(*rows, row);
    if (!policy) return std::unexpected(std::move(policy.error()));
    policies.push_back(std::move(*policy));
  }
  return policies;
}

Result<std::optional<core::Policy>> Policies::find(std::string_view key) {
  auto newest = read({.sql = statement("newest_policy"), .params = Params().text(key)});
  if (!newest) return std::unexpected(std::move(newest.error()));
  if (newest->empty() || newest->front().deleted) return std::nullopt;
  return std::move(newest->front());
}

Result<core::Policy> Policies::change(PolicyChange kind, const core::PolicyDraft& draft,
                                      std::optional<Instant> now) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto roll_back = [&] {
    if (!(*lease)->broken()) std::ignore = (*lease)->run({.sql = statement("rollback")}, deadline);
  };
  const Call begin[] = {
      {.sql = statement("begin"), .params = {}, .commit = false},
      {.sql = statement("lock_policies"), .params = {}, .commit = false},
      {.sql = statement("newest_policy"), .params = Params().text(draft.key), .commit = false},
      {.sql = statement("clock")}};
  const auto begun = (*lease)->run(begin, deadline);
  if (!begun) {
    roll_back();
    return std::unexpected(begun.error().error);
  }
  std::optional<core::Policy> newest;
  if ((*begun)[2].size() > 0) {
    Result<core::Policy> found = policy_of((*begun)[2], 0);
    if (!found) return roll_back(), found;
    newest = std::move(*found);
  }
  // The number of the change that first made a key is an id that no other key can have.
  Result<core::Policy> next = next_version(kind, draft, newest, /*fresh_id=*/(*begun)[1].int8(0, 0),
                                           now.value_or(Instant{Micros{(*begun)[3].int8(0, 0)}}));
  if (!next) return roll_back(), next;
  const Call end[] = {
      {.sql = statement("age_policy"), .params = Params().text(draft.key), .commit = false},
      {.sql = statement("put_policy"), .params = params_of(*next), .commit = false},
      {.sql = statement("commit")}};
  if (const auto ended = (*lease)->run(end, deadline); !ended) {
    roll_back();
    return std::unexpected(ended.error().error);
  }
  return next;
}

Result<core::Policy> Policies::create(const core::PolicyDraft& draft, std::optional<Instant> now) {
  if (Result<void> valid = core::validate(draft); !valid) return std::unexpected(valid.error());
  return change(PolicyChange::create, draft, now);
}

Result<core::Policy> Policies::update(const core::PolicyDraft& draft, std::optional<Instant> now) {
  if (Result<void> valid = core::validate(draft); !valid) return std::unexpected(valid.error());
  return change(PolicyChange::update, draft, now);
}

Result<void> Policies::remove(std::string_view key, std::optional<Instant> now) {
  core::PolicyDraft draft;
  draft.key = key;
  Result<core::Policy> end = change(PolicyChange::remove, draft, now);
  if (!end) return std::unexpected(std::move(end.error()));
  return {};
}

Result<std::vector<core::Policy>> Policies::list(std::string_view after, std::size_t limit) {
  return read(
      {.sql = statement("list_policies"), .params = Params().text(after).int8(int8_of(limit))});
}

Result<std::vector<core::Policy>> Policies::history(std::string_view key, std::size_t limit) {
  return read(
      {.sql = statement("policy_history"), .params = Params().text(key).int8(int8_of(limit))});
}

Result<std::uint64_t> Policies::revision() {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto rows = (*lease)->run({.sql = statement("policy_revision")}, deadline);
  if (!rows) return std::unexpected(rows.error().error);
  return static_cast<std::uint64_t>(rows->int8(0, 0));
}

}  // namespace penstock::store::postgres
