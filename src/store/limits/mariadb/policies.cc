#include "store/limits/mariadb/policies.h"

#include <string>
#include <tuple>
#include <utility>

#include "core/policy/policy_rules.h"
#include "engine/mariadb/query.h"

namespace penstock::store::mariadb {
namespace {

Result<core::Policy> policy_of(const Rows& rows, std::size_t row) {
  const auto type = core::limit_type_of(rows.text(row, 3));
  const auto mode = core::on_store_failure_of(rows.text(row, 10));
  if (!type || !mode) {
    return fail(ErrorKind::corrupt, "throttle_policy holds a word that this program does not know");
  }
  return core::Policy{
      .id = rows.number(row, 0),
      .version = rows.number(row, 1),
      .draft = {.key = std::string(rows.text(row, 2)),
                .limit = {.type = *type,
                          .capacity = rows.number(row, 4),
                          .refill = {.tokens = rows.number(row, 5), .micros = rows.number(row, 6)},
                          .window = Seconds{rows.number(row, 8)}},
                .refill_text = std::string(rows.text(row, 7)),
                .shadow = rows.number(row, 9) != 0,
                .on_store_failure = *mode},
      .changed = Instant{Micros{rows.number(row, 11)}},
      .deleted = rows.number(row, 12) != 0};
}

std::string put_of(const core::Policy& policy) {
  const core::Limit& limit = policy.draft.limit;
  return Query(statement("put_policy"))
      .number(policy.id)
      .number(policy.version)
      .bytes(policy.draft.key)
      .bytes(core::limit_type_name(limit.type))
      .number(limit.capacity)
      .number(limit.refill.tokens)
      .number(limit.refill.micros)
      .bytes(policy.draft.refill_text)
      .number(std::int64_t{limit.window.count()})
      .boolean(policy.draft.shadow)
      .bytes(core::on_store_failure_name(policy.draft.on_store_failure))
      .number(std::int64_t{policy.changed.time_since_epoch().count()})
      .boolean(policy.deleted)
      .text();
}

}  // namespace

Result<std::vector<core::Policy>> Policies::read(std::string text) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto rows = (*lease)->run(std::move(text), deadline);
  if (!rows) return std::unexpected(rows.error().error);
  std::vector<core::Policy> policies;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    Result<core::Policy> policy = policy_of(*rows, row);
    if (!policy) return std::unexpected(std::move(policy.error()));
    policies.push_back(std::move(*policy));
  }
  return policies;
}

Result<std::optional<core::Policy>> Policies::find(std::string_view key) {
  auto newest = read(Query(statement("newest_policy")).bytes(key).text());
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
    if (!(*lease)->broken()) std::ignore = (*lease)->run(statement_text("rollback"), deadline);
  };
  const std::string begin[] = {
      statement_text("begin"), statement_text("lock_policies"), statement_text("policy_revision"),
      Query(statement("newest_policy")).bytes(draft.key).text(), statement_text("clock")};
  const auto begun = (*lease)->run(begin, deadline);
  if (!begun) {
    roll_back();
    return std::unexpected(begun.error().error);
  }
  std::optional<core::Policy> newest;
  if ((*begun)[3].size() > 0) {
    Result<core::Policy> found = policy_of((*begun)[3], 0);
    if (!found) return roll_back(), found;
    newest = std::move(*found);
  }
  // The number of the change that first made a key is an id that no other key can have.
  Result<core::Policy> next =
      next_version(kind, draft, newest, /*fresh_id=*/(*begun)[2].number(0, 0),
                   now.value_or(Instant{Micros{(*begun)[4].number(0, 0)}}));
  if (!next) return roll_back(), next;
  const std::string end[] = {Query(statement("age_policy")).bytes(draft.key).text(), put_of(*next),
                             statement_text("commit")};
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
  return read(Query(statement("list_policies")).bytes(after).number(limit_of(limit)).text());
}

Result<std::vector<core::Policy>> Policies::history(std::string_view key, std::size_t limit) {
  return read(Query(statement("policy_history")).bytes(key).number(limit_of(limit)).text());
}

Result<std::uint64_t> Policies::revision() {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto rows = (*lease)->run(statement_text("policy_revision"), deadline);
  if (!rows) return std::unexpected(rows.error().error);
  return static_cast<std::uint64_t>(rows->number(0, 0));
}

}  // namespace penstock::store::mariadb
