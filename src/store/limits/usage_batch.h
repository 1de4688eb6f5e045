// Decides batches against an engine that keeps usage in rows: lock the rows of a batch in the order
// of their keys, decide by the core, write back what changed, commit. The engine's side of it is a
// UsageSession. Blocking; one thread at a time.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/limits/batch_states.h"
#include "store/limits/ports.h"

namespace penstock::store {

struct UsageProblem {
  Error error;
  // The engine rolled back for a reason that passes by itself (a deadlock): the same may be sent
  // again at once.
  bool repeat = false;
};

template <class T>
using UsageResult = std::expected<T, UsageProblem>;

// One row that an engine has for a key. No record: a place that is held for a key without usage.
struct UsageRow {
  std::size_t key = 0;  // index into the keys asked for
  std::string_view record;
};

// One connection of an engine for the time of one call. A transaction that was begun and not
// committed ends without a trace with the next lock() or with the session. After an error nothing
// is locked and nothing of the call was written, unless the error says that the outcome is unknown.
class UsageSession {
 public:
  // What was read, and the engine's time when it was: after the locks were had.
  struct Read {
    std::vector<UsageRow> rows;  // valid until the next call
    Instant now{};
  };

  UsageSession() = default;
  UsageSession(const UsageSession&) = delete;
  UsageSession& operator=(const UsageSession&) = delete;
  virtual ~UsageSession() = default;

  // The rows of `keys` without locks, at one moment. `now` given = that time is handed back.
  virtual UsageResult<Read> look(std::span<const std::string_view> keys,
                                 std::optional<Instant> now) = 0;
  // Begins a transaction and locks the rows of `keys`, in the order given (ascending). Before it,
  // in a transaction of its own, makes rows for `missing`, also ascending.
  virtual UsageResult<Read> lock(std::span<const std::string_view> keys,
                                 std::span<const std::string_view> missing,
                                 std::optional<Instant> now) = 0;
  // Writes to locked rows and commits; no changes = only ends the transaction.
  virtual UsageResult<void> commit(std::span<const std::string_view> keys,
                                   std::span<const BatchStates::Change> changes) = 0;
};

// Answers every request, in their order. A long list is cut into several transactions; when one
// fails, its requests get the error and so do those behind it.
void apply_in_transactions(UsageSession& session, std::span<const LimitRequest> requests,
                           std::optional<Instant> now, std::span<Result<LimitAnswer>> answers);

// What a row says of its key for people; empty when that is nothing (any more).
Result<std::optional<KeyUse>> use_of(std::string_view key, std::string_view record, Instant now);
Result<std::optional<KeyUse>> find_use(UsageSession& session, std::string_view key,
                                       std::optional<Instant> now);

// How many requests from the front go into one transaction.
std::size_t first_cut(std::span<const LimitRequest> requests) noexcept;

}  // namespace penstock::store
