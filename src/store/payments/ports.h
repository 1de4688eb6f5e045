// Ports of payments: the payments with their history, and the rules they must pass.
// Blocking; thread-safe; what changes something is durable when it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item.h"
#include "core/payments/rules.h"
#include "core/payments/status.h"
#include "store/port.h"

namespace penstock::store {

using core::PaymentStatus;

// The type of the items that payments have; its id is the payment's.
inline const ItemType& payment_item_type() {
  static const ItemType type = ItemType::trusted("PAYMENT");
  return type;
}

struct NewPayment {
  PaymentId id;
  PaymentStatus status = PaymentStatus::scheduled;  // or rejected, or held
  Instant scheduled{};                              // whole milliseconds
  std::string reason;                               // of one that is not scheduled
  std::string body;                                 // JSON text, kept as it is
  std::string context;                              // of its item; only of a scheduled one
  core::BodyDigest digest{};
};

enum class TakeResult : std::uint8_t {
  created,
  same,       // it was there, with the same body: its first answer stands
  different,  // it was there, with another body: nothing changed
};

struct TakenPayment {
  TakeResult result = TakeResult::created;
  PaymentStatus status = PaymentStatus::scheduled;  // as kept
  std::optional<core::ItemState> item;              // none = it has no item
  Instant scheduled{};                              // of its item, else as it was asked for
  std::string reason;                               // the rule's

  PaymentStatus shown() const noexcept { return core::shown_status(status, item); }
};

struct StatusChange {
  PaymentId id;
  PaymentStatus to = PaymentStatus::accepted;
  std::string detail;  // at most kDetailBytesMax are kept
};

enum class AdvanceResult : std::uint8_t {
  moved,
  there,     // it had that status already: nothing changed
  conflict,  // core::may_report says no
  unknown,   // there is no such payment
};

struct Advanced {
  AdvanceResult result = AdvanceResult::moved;
  PaymentStatus status = PaymentStatus::scheduled;  // as kept, afterwards
};

struct PaymentNote {
  Instant at{};
  std::optional<PaymentStatus> from;
  PaymentStatus to = PaymentStatus::scheduled;
  std::string detail;

  friend bool operator==(const PaymentNote&, const PaymentNote&) = default;
};

struct PaymentRecord {
  PaymentId id;
  PaymentStatus status = PaymentStatus::scheduled;  // as kept
  Instant created{};
  Instant scheduled{};  // as it was asked for
  std::string reason;   // why it was rejected or held
  std::string body;
  std::vector<PaymentNote> history;  // oldest first
};

struct PaymentRow {
  PaymentId id;
  PaymentStatus status = PaymentStatus::scheduled;  // as kept
  std::optional<core::ItemState> item;
  Instant scheduled{};  // as it was asked for
  std::string reason;

  PaymentStatus shown() const noexcept { return core::shown_status(status, item); }
};

struct PaymentPage {
  std::vector<PaymentRow> rows;
  // There may be more behind this id; a page may be short, or empty, all the same.
  std::optional<PaymentId> next;
};

// Where a walk over old payments goes on.
struct PaymentPlace {
  Instant scheduled{};
  PaymentId id;
};

struct PaymentSweep {
  std::size_t gone = 0;
  std::optional<PaymentPlace> next;  // none = there is nothing more before the time
};

// Rows that one call of list() looks at, to find those of a status: some 50 ms.
inline constexpr std::size_t kPaymentRowsLookedAt = 10'000;

// Payments, each with what became of it, and with its item in the queue of the same store. A
// backend proves itself with store/payments/conformance/payment_suite.h. Implementations are
// blocking and safe to call from several threads at once. Every change of a payment, its entry in
// the history and the item that follows from it are one atomic step, durable when the call returns.
// `now` is for tests; null = the store's own clock. What is kept is the business status. Whether a
// SCHEDULED payment FAILED is the queue's to say: answers carry the state of the item beside the
// kept status (core::shown_status).
class PaymentStore : public Port {
 public:
  // In the order of `payments`; the same payment twice in one batch is one. A scheduled one gets
  // its item in the same step. `conflict`, alone: there is no such payment, but an item of its
  // name, which somebody else brought. When the store itself fails, every payment gets that error
  // and nothing was written.
  virtual std::vector<Result<TakenPayment>> take(std::span<const NewPayment> payments,
                                                 std::optional<Instant> now) = 0;

  // Applied in order; the same payment may stand there more than once.
  virtual Result<std::vector<Advanced>> advance(std::span<const StatusChange> changes,
                                                std::optional<Instant> now) = 0;

  // HELD -> SCHEDULED, with its item. `conflict` from any other status, `not_found` when there is
  // no such payment. Only id, scheduled, context and digest of `payment` count.
  // `payment.reason` goes to the history: who released it.
  virtual Result<void> release(const NewPayment& payment, std::optional<Instant> now) = 0;

  virtual Result<std::optional<PaymentRecord>> find(const PaymentId& id) = 0;

  // Those that show `status` (none = all) behind the id `after` (empty = from the start), in the
  // order of their ids.
  virtual Result<PaymentPage> list(std::optional<PaymentStatus> status, const PaymentId& after,
                                   std::size_t limit) = 0;

  // Looks at up to `limit` payments with a scheduled time before `before`, from `from` on, and
  // forgets those that are not HELD and whose item is gone, or that never had one. Short: it holds
  // nobody up.
  virtual Result<PaymentSweep> forget(Instant before, const PaymentPlace& from,
                                      std::size_t limit) = 0;
};

struct PaymentRuleRecord {
  std::uint64_t revision = 0;  // grows with every change; 0 = there never was one
  core::PaymentRules rules;
  Instant changed{};
};

// The rules of payments, one list that is replaced as a whole. Blocking; thread-safe; durable when
// it returns.
class PaymentRuleStore : public Port {
 public:
  virtual Result<PaymentRuleRecord> put(const core::PaymentRules& rules,
                                        std::optional<Instant> now) = 0;
  virtual Result<PaymentRuleRecord> get() = 0;
  // A cheap way to learn that a copy is still good.
  virtual Result<std::uint64_t> revision() = 0;
};

// What an engine offers of this capability; null = not this.
struct PaymentPorts {
  PaymentStore* store = nullptr;
  PaymentRuleStore* rules = nullptr;
};

}  // namespace penstock::store
