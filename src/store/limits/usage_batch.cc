#include "store/limits/usage_batch.h"

#include <algorithm>
#include <utility>

#include "core/limits/decide.h"
#include "store/limits/limit_record.h"

namespace penstock::store {
namespace {

// One statement stays short, and so does the time for which its rows are locked.
constexpr std::size_t kTransactionKeysMax = 1'000;

// Deadlocks and rows taken away between two looks. Locks are taken in one order, so that more than
// one in a row needs very bad luck; the caller's deadline ends it too.
constexpr int kAttempts = 8;

void load_rows(BatchStates& states, std::span<const UsageRow> rows) {
  for (const UsageRow& row : rows) {
    if (!row.record.empty()) states.load(row.key, row.record);
  }
}

std::vector<std::string_view> missing_of(std::span<const std::string_view> keys,
                                         std::span<const UsageRow> rows) {
  std::vector<bool> found(keys.size());
  for (const UsageRow& row : rows) found[row.key] = true;
  std::vector<std::string_view> missing;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!found[i]) missing.push_back(keys[i]);
  }
  return missing;
}

// Nothing is left of the transaction when this returns.
UsageResult<void> decide(UsageSession& session, BatchStates& states, std::optional<Instant> now,
                         std::span<Result<LimitAnswer>> answers) {
  if (states.keys().empty()) {
    states.decide(Instant{}, answers);  // refuses them all
    return {};
  }
  if (states.only_looks()) {
    const auto read = PENSTOCK_TRY(session.look(states.keys(), now));
    load_rows(states, read.rows);
    states.decide(read.now, answers);
    return {};
  }
  std::vector<std::string_view> missing;
  for (int tried = 1;; ++tried) {
    const auto read = PENSTOCK_TRY(session.lock(states.keys(), missing, now));
    if (read.rows.size() < states.keys().size()) {
      // A row that is not there cannot be locked, and to make it now would be out of order.
      missing = missing_of(states.keys(), read.rows);
      if (tried < kAttempts) continue;
      return std::unexpected(
          UsageProblem{{.kind = ErrorKind::unavailable,
                        .what = "rows of usage vanish as soon as they are made"}});
    }
    load_rows(states, read.rows);
    states.decide(read.now, answers);
    return session.commit(states.keys(), states.changes());
  }
}

UsageResult<void> decide_with_retries(UsageSession& session, std::span<const LimitRequest> requests,
                                      std::optional<Instant> now,
                                      std::span<Result<LimitAnswer>> answers) {
  for (int tried = 1;; ++tried) {
    BatchStates states(requests);
    UsageResult<void> decided = decide(session, states, now, answers);
    if (decided || !decided.error().repeat || tried == kAttempts) return decided;
  }
}

}  // namespace

Result<std::optional<KeyUse>> use_of(std::string_view key, std::string_view record, Instant now) {
  if (record.empty()) return std::nullopt;
  const LimitRecord decoded = PENSTOCK_TRY(decode_record(record));
  if (core::idle(decoded.state, now)) return std::nullopt;
  return decoded.use(key, now);
}

Result<std::optional<KeyUse>> find_use(UsageSession& session, std::string_view key,
                                       std::optional<Instant> now) {
  const auto read = session.look({&key, 1}, now);
  if (!read) return std::unexpected(read.error().error);
  if (read->rows.empty()) return std::nullopt;
  return use_of(key, read->rows.front().record, read->now);
}

std::size_t first_cut(std::span<const LimitRequest> requests) noexcept {
  std::size_t keys = 0;
  std::size_t count = 0;
  for (; count < requests.size(); ++count) {
    keys += requests[count].checks.size();
    if (count > 0 && keys > kTransactionKeysMax) break;
  }
  return count;
}

void apply_in_transactions(UsageSession& session, std::span<const LimitRequest> requests,
                           std::optional<Instant> now, std::span<Result<LimitAnswer>> answers) {
  while (!requests.empty()) {
    const std::size_t count = first_cut(requests);
    const UsageResult<void> decided =
        decide_with_retries(session, requests.first(count), now, answers.first(count));
    if (!decided) {
      std::ranges::fill(answers, Result<LimitAnswer>(std::unexpected(decided.error().error)));
      return;
    }
    requests = requests.subspan(count);
    answers = answers.subspan(count);
  }
}

}  // namespace penstock::store
