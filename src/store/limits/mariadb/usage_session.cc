#include "store/limits/mariadb/usage_session.h"

#include <tuple>
#include <utility>

#include "engine/mariadb/query.h"

namespace penstock::store::mariadb {
namespace {

// The server takes packets of 16 MiB unless told otherwise; bytes are sent as twice as many digits.
constexpr std::size_t kWriteBytesMax = 4 << 20;

// The changes from the front that fit into one statement.
std::size_t that_fit(std::span<const BatchStates::Change> changes) {
  std::size_t bytes = 0;
  std::size_t count = 0;
  for (; count < changes.size(); ++count) {
    bytes += 2 * (changes[count].record.size() + 600);
    if (count > 0 && bytes > kWriteBytesMax) break;
  }
  return count;
}

std::string write_of(std::span<const std::string_view> keys,
                     std::span<const BatchStates::Change> changes) {
  return Query(statement("write_usage"))
      .rows(changes.size(),
            [&](Query& row, std::size_t i) {
              row.bytes(keys[changes[i].key])
                  .bytes(changes[i].record)
                  .number(std::int64_t{changes[i].idle_at.time_since_epoch().count()});
            })
      .text();
}

}  // namespace

MariadbUsage::~MariadbUsage() { roll_back(); }

void MariadbUsage::roll_back() {
  if (!std::exchange(in_transaction_, false) || connection_.broken()) return;
  std::ignore = connection_.run(statement_text("rollback"), deadline_);
}

UsageProblem MariadbUsage::failed(DatabaseError error) {
  roll_back();
  const bool repeat = worth_repeating(error) && !connection_.broken() && !deadline_.passed();
  return {.error = std::move(error.error), .repeat = repeat};
}

UsageResult<UsageSession::Read> MariadbUsage::read(std::span<const std::string> statements,
                                                   std::size_t rows_at,
                                                   std::span<const std::string_view> keys,
                                                   std::optional<Instant> now) {
  auto answers = connection_.run(statements, deadline_);
  if (!answers) return std::unexpected(failed(std::move(answers.error())));
  answers_ = std::move(*answers);
  Read read;
  const Rows& rows = answers_[rows_at];
  read.rows.reserve(rows.size());
  // Both ascend by the bytes of the keys.
  std::size_t key = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    while (key < keys.size() && keys[key] != rows.text(row, 0)) ++key;
    if (key == keys.size()) break;
    read.rows.push_back({.key = key, .record = rows.text(row, 1)});
  }
  read.now = now ? *now : Instant{Micros{answers_[rows_at + 1].number(0, 0)}};
  return read;
}

UsageResult<UsageSession::Read> MariadbUsage::look(std::span<const std::string_view> keys,
                                                   std::optional<Instant> now) {
  std::vector<std::string> statements = {Query(statement("look_usage")).list(keys).text()};
  if (!now) statements.push_back(statement_text("clock"));
  return read(statements, 0, keys, now);
}

UsageResult<UsageSession::Read> MariadbUsage::lock(std::span<const std::string_view> keys,
                                                   std::span<const std::string_view> missing,
                                                   std::optional<Instant> now) {
  std::vector<std::string> statements;
  if (in_transaction_) statements.push_back(statement_text("rollback"));
  if (!missing.empty()) {
    statements.push_back(
        Query(statement("make_usage"))
            .rows(missing.size(),
                  [&](Query& row, std::size_t i) { row.bytes(missing[i]).number(micros_of(now)); })
            .text());
  }
  statements.push_back(statement_text("begin"));
  statements.push_back(Query(statement("lock_usage")).list(keys).text());
  const std::size_t rows_at = statements.size() - 1;
  if (!now) statements.push_back(statement_text("clock"));
  in_transaction_ = true;
  return read(statements, rows_at, keys, now);
}

UsageResult<void> MariadbUsage::commit(std::span<const std::string_view> keys,
                                       std::span<const BatchStates::Change> changes) {
  std::vector<std::string> statements;
  while (!changes.empty()) {
    const std::size_t count = that_fit(changes);
    statements.assign({write_of(keys, changes.first(count))});
    changes = changes.subspan(count);
    if (changes.empty()) break;
    if (auto written = connection_.run(statements, deadline_); !written) {
      return std::unexpected(failed(std::move(written.error())));
    }
  }
  statements.push_back(statement_text("commit"));
  if (auto committed = connection_.run(statements, deadline_); !committed) {
    return std::unexpected(failed(std::move(committed.error())));
  }
  in_transaction_ = false;
  return {};
}

UsageResult<bool> MariadbUsage::reset(std::string_view key) {
  const std::string statements[] = {
      statement_text("begin"), Query(statement("lock_usage")).list({&key, 1}).text(),
      Query(statement("reset_usage")).bytes(key).text(), statement_text("commit")};
  in_transaction_ = true;
  const auto answers = connection_.run(statements, deadline_);
  if (!answers) return std::unexpected(failed(answers.error()));
  in_transaction_ = false;
  return (*answers)[1].size() > 0 && !(*answers)[1].text(0, 1).empty();
}

}  // namespace penstock::store::mariadb
