// The rows of throttle_usage behind one batch: one round trip to lock and read, one to write and
// commit. Borrows the connection. One thread at a time.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/postgres/connection.h"
#include "runtime/deadline.h"
#include "store/limits/usage_batch.h"

namespace penstock::store::postgres {

class PostgresUsage final : public UsageSession {
 public:
  PostgresUsage(Connection& connection, const runtime::Deadline& deadline)
      : connection_(connection), deadline_(deadline) {}
  ~PostgresUsage() override;

  UsageResult<Read> look(std::span<const std::string_view> keys,
                         std::optional<Instant> now) override;
  UsageResult<Read> lock(std::span<const std::string_view> keys,
                         std::span<const std::string_view> missing,
                         std::optional<Instant> now) override;
  UsageResult<void> commit(std::span<const std::string_view> keys,
                           std::span<const BatchStates::Change> changes) override;

 private:
  // `rows_at`: the call that answers the rows; the one behind it the time, unless `now` is given.
  UsageResult<Read> read(std::span<const Call> calls, std::size_t rows_at,
                         std::span<const std::string_view> keys, std::optional<Instant> now);
  UsageProblem failed(DatabaseError error);
  void roll_back();

  Connection& connection_;
  const runtime::Deadline deadline_;
  bool in_transaction_ = false;
  std::vector<Rows> answers_;
};

}  // namespace penstock::store::postgres
