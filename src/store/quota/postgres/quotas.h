// The ports of quotas on PostgreSQL. Thread-safe. `database`: of connections whose commits wait for
// the disk.
#pragma once

#include <memory>

#include "engine/postgres/connection.h"
#include "store/queue/postgres/claim_hints.h"
#include "store/quota/ports.h"

namespace penstock::store::postgres {

// The users of a batch, for a statement.
inline auto users_of(const auto& all) {
  return column(all, [](const auto& each) { return each.user.raw; });
}

// What became of charges, from the first three columns of one row: results as ChargeResult numbers
// them (or a number of the statement's own), windows, waits.
Result<std::vector<Charged>> charged_of(const Rows& rows, std::size_t charges);

// A batch of messages is one call of a function, one transaction, with its announcement behind it.
// `hints` must outlive it.
std::unique_ptr<QuotaStore> make_quotas(Database database, ClaimHints& hints);
// `leases`: for leases and charges; `epochs`: of another pool, for what must not wait behind those.
std::unique_ptr<QuotaLedger> make_quota_ledger(Database leases, Database epochs);

// One statement for each call:
std::unique_ptr<DeliveryStore> make_deliveries(Database database);
std::unique_ptr<UsageExport> make_usage_export(Database database);
std::unique_ptr<AttemptStore> make_attempts(Database database);
std::unique_ptr<SendKeys> make_send_keys(Database database);

}  // namespace penstock::store::postgres
