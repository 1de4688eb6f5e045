#include "store/limits/postgres/usage_session.h"

#include <tuple>
#include <utility>

#include "engine/postgres/calls.h"

namespace penstock::store::postgres {
namespace {}  // namespace

PostgresUsage::~PostgresUsage() { roll_back(); }

void PostgresUsage::roll_back() {
  if (!std::exchange(in_transaction_, false) || connection_.broken()) return;
  std::ignore = connection_.run({.sql = statement("rollback")}, deadline_);
}

UsageProblem PostgresUsage::failed(DatabaseError error) {
  roll_back();
  const bool repeat = worth_repeating(error) && !connection_.broken() && !deadline_.passed();
  return {.error = std::move(error.error), .repeat = repeat};
}

UsageResult<UsageSession::Read> PostgresUsage::read(std::span<const Call> calls,
                                                    std::size_t rows_at,
                                                    std::span<const std::string_view> keys,
                                                    std::optional<Instant> now) {
  auto answers = connection_.run(calls, deadline_);
  if (!answers) return std::unexpected(failed(std::move(answers.error())));
  answers_ = std::move(*answers);
  Read read;
  const Rows& rows = answers_[rows_at];
  read.rows.reserve(static_cast<std::size_t>(rows.size()));
  // Both ascend by the bytes of the keys.
  std::size_t key = 0;
  for (int row = 0; row < rows.size(); ++row) {
    const std::string_view name = rows.text(row, 0);
    while (key < keys.size() && keys[key] != name) ++key;
    if (key == keys.size()) break;
    read.rows.push_back({.key = key, .record = rows.text(row, 1)});
  }
  read.now = now ? *now : Instant{Micros{answers_[rows_at + 1].int8(0, 0)}};
  return read;
}

UsageResult<UsageSession::Read> PostgresUsage::look(std::span<const std::string_view> keys,
                                                    std::optional<Instant> now) {
  std::vector<Call> calls;
  calls.push_back(
      {.sql = statement("look_usage"), .params = Params().byteas(keys), .commit = true});
  if (!now) {
    calls.front().commit = false;
    calls.push_back({.sql = statement("clock")});
  }
  return read(calls, 0, keys, now);
}

UsageResult<UsageSession::Read> PostgresUsage::lock(std::span<const std::string_view> keys,
                                                    std::span<const std::string_view> missing,
                                                    std::optional<Instant> now) {
  std::vector<Call> calls;
  if (in_transaction_) calls.push_back({.sql = statement("rollback")});
  if (!missing.empty()) {
    calls.push_back(
        {.sql = statement("make_usage"), .params = Params().byteas(missing).int8(epoch_us(now))});
  }
  calls.push_back({.sql = statement("begin"), .params = {}, .commit = false});
  calls.push_back({.sql = statement("lock_usage"), .params = Params().byteas(keys)});
  const std::size_t rows_at = calls.size() - 1;
  if (!now) {
    calls.back().commit = false;
    calls.push_back({.sql = statement("clock")});
  }
  in_transaction_ = true;
  return read(calls, rows_at, keys, now);
}

UsageResult<void> PostgresUsage::commit(std::span<const std::string_view> keys,
                                        std::span<const BatchStates::Change> changes) {
  std::vector<Call> calls;
  if (!changes.empty()) {
    std::vector<std::string_view> changed;
    std::vector<std::string_view> records;
    std::vector<std::int64_t> idle_at;
    for (const BatchStates::Change& change : changes) {
      changed.push_back(keys[change.key]);
      records.push_back(change.record);
      idle_at.push_back(change.idle_at.time_since_epoch().count());
    }
    calls.push_back({.sql = statement("write_usage"),
                     .params = Params().byteas(changed).byteas(records).int8s(idle_at),
                     .commit = false});
  }
  calls.push_back({.sql = statement("commit")});
  auto committed = connection_.run(calls, deadline_);
  if (!committed) return std::unexpected(failed(std::move(committed.error())));
  in_transaction_ = false;
  return {};
}

}  // namespace penstock::store::postgres
