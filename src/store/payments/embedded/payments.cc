#include "store/payments/embedded/payments.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/rocksdb/records.h"
#include "store/payments/embedded/payment_batch.h"
#include "store/queue/embedded/queue_step.h"

namespace penstock::store::embedded {
namespace {

Result<std::optional<PaymentEntry>> read_payment(const Engine::View& view, const PaymentId& id) {
  return view.find(Family::payment, id.str(), "read a payment", decode_payment);
}

void move_to(PaymentEntry& entry, PaymentStatus to, Instant at, std::string detail) {
  put_payment_note(entry.trail,
                   {.at = at, .from = entry.status, .to = to, .detail = std::move(detail)});
  entry.status = to;
}

ItemId item_id_of(const PaymentId& id) { return ItemId::trusted(id.str()); }

}  // namespace

std::vector<Result<TakenPayment>> EmbeddedPayments::take(std::span<const NewPayment> payments,
                                                         std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  // A store that cannot write still answers for payments that it has; the commit refuses the rest.
  std::ignore = writer_.ready();
  return PaymentBatch(writer_, enqueue_, payments, writer_.at(now)).run();
}

Result<std::vector<Advanced>> EmbeddedPayments::advance(std::span<const StatusChange> reports,
                                                        std::optional<Instant> now) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  struct Touched {
    std::optional<PaymentEntry> entry;
    bool moved = false;
  };
  std::map<PaymentId, Touched> touched;
  std::vector<Advanced> answers;
  for (const StatusChange& change : reports) {
    const auto [found, added] = touched.try_emplace(change.id);
    Touched& payment = found->second;
    if (added) payment.entry = PENSTOCK_TRY(read_payment(view, change.id));
    if (!payment.entry) {
      answers.push_back({.result = AdvanceResult::unknown, .status = {}});
      continue;
    }
    AdvanceResult result = AdvanceResult::conflict;
    if (payment.entry->status == change.to) {
      result = AdvanceResult::there;
    } else if (core::may_report(payment.entry->status, change.to)) {
      result = AdvanceResult::moved;
      payment.moved = true;
      move_to(*payment.entry, change.to, writer_.at(now), change.detail);
    }
    answers.push_back({.result = result, .status = payment.entry->status});
  }
  Changes changes(view);
  for (const auto& [id, payment] : touched) {
    // No report leads out of a status that has an index.
    if (payment.moved) change_payment(changes, id, PaymentStatus::scheduled, *payment.entry);
  }
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return answers;
}

Result<void> EmbeddedPayments::release(const NewPayment& payment, std::optional<Instant> now) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  std::optional<PaymentEntry> entry = PENSTOCK_TRY(read_payment(view, payment.id));
  if (!entry) return fail(ErrorKind::not_found, "there is no payment " + payment.id.str());
  if (entry->status != PaymentStatus::held) {
    return fail(ErrorKind::conflict,
                fmt::format("the payment is {}", core::payment_status_name(entry->status)));
  }
  move_to(*entry, PaymentStatus::scheduled, writer_.at(now), payment.reason);
  const NewItem item = item_of(payment);
  const auto rider = [&](std::span<const Result<Enqueued>> answers,
                         Changes& changes) -> Result<void> {
    if (answers[0] && answers[0]->result != EnqueueResult::created) {
      return std::unexpected(foreign_item(payment.id));
    }
    change_payment(changes, payment.id, PaymentStatus::held, *entry);
    return {};
  };
  const std::vector<Result<Enqueued>> answers = enqueue_.run({&item, 1}, writer_.at(now), rider);
  PENSTOCK_TRY(answers[0]);
  return {};
}

Result<std::optional<PaymentRecord>> EmbeddedPayments::find(const PaymentId& id) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  std::optional<PaymentEntry> entry = PENSTOCK_TRY(read_payment(view, id));
  if (!entry) return std::nullopt;
  std::vector<PaymentNote> history =
      PENSTOCK_TRY(view.in_folder(decode_payment_notes(entry->trail)));
  return PaymentRecord{.id = id,
                       .status = entry->status,
                       .created = entry->created,
                       .scheduled = entry->scheduled,
                       .reason = std::move(entry->reason),
                       .body = std::move(entry->body),
                       .history = std::move(history)};
}

Result<PaymentRow> EmbeddedPayments::row_of(const Engine::View& view, PaymentId id,
                                            PaymentEntry&& entry) const {
  const std::optional<ItemRecord> item =
      PENSTOCK_TRY(current_item(writer_, view, payment_item_type(), item_id_of(id)));
  PaymentRow row{.id = std::move(id),
                 .status = entry.status,
                 .item = std::nullopt,
                 .scheduled = entry.scheduled,
                 .reason = std::move(entry.reason)};
  if (item) row.item = item->state;
  return row;
}

Result<PaymentPage> EmbeddedPayments::list(std::optional<PaymentStatus> status,
                                           const PaymentId& after, std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  return status && is_indexed(*status) ? list_indexed(view, *status, after, limit)
                                       : list_walking(view, status, after, limit);
}

Result<PaymentPage> EmbeddedPayments::list_indexed(const Engine::View& view, PaymentStatus status,
                                                   const PaymentId& after,
                                                   std::size_t limit) const {
  PaymentPage page;
  Cursor keys(view, Family::payment_order, embedded::after(payment_status_key(status, after.str())),
              behind(payment_status_key(status)));
  for (; PENSTOCK_TRY(keys.more()); keys.next()) {
    if (page.rows.size() == limit) {
      page.next = page.rows.empty() ? after : page.rows.back().id;
      return page;
    }
    PaymentId id = PENSTOCK_TRY(view.in_folder(decode_payment_status_key(keys.key())));
    std::optional<PaymentEntry> entry = PENSTOCK_TRY(read_payment(view, id));
    if (!entry || entry->status != status) continue;  // it moved while we looked
    PaymentRow row = PENSTOCK_TRY(row_of(view, std::move(id), std::move(*entry)));
    page.rows.push_back(std::move(row));
  }
  return page;
}

Result<PaymentPage> EmbeddedPayments::list_walking(const Engine::View& view,
                                                   std::optional<PaymentStatus> status,
                                                   const PaymentId& after,
                                                   std::size_t limit) const {
  PaymentPage page;
  std::size_t looked_at = 0;
  PaymentId last = after;
  Cursor rows(view, Family::payment, embedded::after(after.str()), {});
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    if (page.rows.size() == limit || looked_at == kPaymentRowsLookedAt) {
      page.next = std::move(last);
      return page;
    }
    ++looked_at;
    last = PaymentId::trusted(std::string(rows.key()));
    PaymentEntry entry = PENSTOCK_TRY(view.in_folder(decode_payment(rows.value())));
    PaymentRow row = PENSTOCK_TRY(row_of(view, last, std::move(entry)));
    if (!status || row.shown() == *status) page.rows.push_back(std::move(row));
  }
  return page;
}

Result<PaymentSweep> EmbeddedPayments::forget(Instant before, const PaymentPlace& from,
                                              std::size_t limit) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  Changes changes(view);
  PaymentSweep sweep;
  PaymentPlace last = from;
  std::size_t looked_at = 0;
  const std::string begin = payment_time_key(from.scheduled, from.id.str());
  Cursor keys(view, Family::payment_order, from.id.empty() ? begin : after(begin),
              payment_time_key(before));
  for (; PENSTOCK_TRY(keys.more()); keys.next()) {
    if (looked_at++ == limit) {
      sweep.next = last;
      break;
    }
    last = PENSTOCK_TRY(view.in_folder(decode_payment_time_key(keys.key())));
    const std::optional<PaymentEntry> entry = PENSTOCK_TRY(read_payment(view, last.id));
    const auto item = PENSTOCK_TRY(read_item(view, payment_item_type(), item_id_of(last.id)));
    if (!entry || item || entry->status == PaymentStatus::held) continue;
    forget_payment(changes, last, entry->status);
    ++sweep.gone;
  }
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return sweep;
}

Result<PaymentRuleRecord> EmbeddedPaymentRules::put(const core::PaymentRules& rules,
                                                    std::optional<Instant> now) {
  PENSTOCK_TRY(core::check_rules(rules));
  const std::lock_guard lock(writer_.mutex);
  PENSTOCK_TRY(writer_.ready());
  PaymentRuleRecord record = PENSTOCK_TRY(get());
  ++record.revision;
  record.rules = rules;
  record.changed = writer_.at(now);
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  Changes changes(view);
  changes.put(Family::meta, kPaymentRulesKey, encode_payment_rule_record(record));
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return record;
}

Result<PaymentRuleRecord> EmbeddedPaymentRules::get() {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  std::optional<PaymentRuleRecord> record = PENSTOCK_TRY(view.find(
      Family::meta, kPaymentRulesKey, "read the payment rules", decode_payment_rule_record));
  return std::move(record).value_or(PaymentRuleRecord{});
}

// The record is small: reading it is as cheap as reading a number.
Result<std::uint64_t> EmbeddedPaymentRules::revision() {
  const PaymentRuleRecord record = PENSTOCK_TRY(get());
  return record.revision;
}

}  // namespace penstock::store::embedded
