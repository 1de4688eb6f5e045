#include "store/payments/embedded/embedded_payments.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/rocksdb/cursor.h"
#include "store/payments/embedded/payment_batch.h"
#include "store/queue/embedded/queue_reads.h"

namespace penstock::store::embedded {
namespace {

Result<std::optional<PaymentEntry>> read_payment(const Engine::View& view, const PaymentId& id) {
  std::string value;
  const rocksdb::Status status =
      view.db().Get(rocksdb::ReadOptions(), view.family(Family::payment), id.str(), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return std::unexpected(view.translate(status, "read a payment"));
  Result<PaymentEntry> entry = decode_payment(value);
  if (!entry) return std::unexpected(view.in_folder(std::move(entry.error())));
  return std::move(*entry);
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
  return PaymentBatch(writer_, enqueue_, payments, at(now)).run();
}

Result<std::vector<Advanced>> EmbeddedPayments::advance(std::span<const StatusChange> changes,
                                                        std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  struct Touched {
    std::optional<PaymentEntry> entry;
    bool moved = false;
  };
  std::map<PaymentId, Touched> touched;
  std::vector<Advanced> answers;
  for (const StatusChange& change : changes) {
    const auto [found, added] = touched.try_emplace(change.id);
    Touched& payment = found->second;
    if (added) {
      Result<std::optional<PaymentEntry>> entry = read_payment(*view, change.id);
      if (!entry) return std::unexpected(std::move(entry.error()));
      payment.entry = std::move(*entry);
    }
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
      move_to(*payment.entry, change.to, at(now), change.detail);
    }
    answers.push_back({.result = result, .status = payment.entry->status});
  }
  rocksdb::WriteBatch batch;
  PaymentWrites writes(*view, batch);
  for (const auto& [id, payment] : touched) {
    // No report leads out of a status that has an index.
    if (payment.moved) writes.change(id, PaymentStatus::scheduled, *payment.entry);
  }
  if (Result<void> status = writes.status(); !status) return std::unexpected(status.error());
  if (batch.Count() == 0) return answers;
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return answers;
}

Result<void> EmbeddedPayments::release(const NewPayment& payment, std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return ready;
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  Result<std::optional<PaymentEntry>> entry = read_payment(*view, payment.id);
  if (!entry) return std::unexpected(std::move(entry.error()));
  if (!*entry) return fail(ErrorKind::not_found, "there is no payment " + payment.id.str());
  if ((*entry)->status != PaymentStatus::held) {
    return fail(ErrorKind::conflict,
                fmt::format("the payment is {}", core::payment_status_name((*entry)->status)));
  }
  move_to(**entry, PaymentStatus::scheduled, at(now), payment.reason);
  const NewItem item = item_of(payment);
  const auto rider = [&](std::span<const Result<Enqueued>> answers, rocksdb::WriteBatch& batch) {
    if (answers[0] && answers[0]->result != EnqueueResult::created) {
      return Result<void>(fail(ErrorKind::conflict, "there is an item PAYMENT:" + item.id.str() +
                                                        " that belongs to no payment"));
    }
    PaymentWrites writes(*view, batch);
    writes.change(payment.id, PaymentStatus::held, **entry);
    return writes.status();
  };
  std::vector<Result<Enqueued>> answers = enqueue_.run({&item, 1}, at(now), rider);
  if (!answers[0]) return std::unexpected(std::move(answers[0].error()));
  return {};
}

Result<std::optional<PaymentRecord>> EmbeddedPayments::find(const PaymentId& id) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  Result<std::optional<PaymentEntry>> entry = read_payment(*view, id);
  if (!entry) return std::unexpected(std::move(entry.error()));
  if (!*entry) return std::nullopt;
  Result<std::vector<PaymentNote>> history = decode_payment_notes((*entry)->trail);
  if (!history) return std::unexpected(view->in_folder(std::move(history.error())));
  return PaymentRecord{.id = id,
                       .status = (*entry)->status,
                       .created = (*entry)->created,
                       .scheduled = (*entry)->scheduled,
                       .reason = std::move((*entry)->reason),
                       .body = std::move((*entry)->body),
                       .history = std::move(*history)};
}

Result<PaymentRow> EmbeddedPayments::row_of(const Engine::View& view, PaymentId id,
                                            PaymentEntry&& entry) const {
  const Result<std::optional<ItemRecord>> item =
      current_item(writer_, view, payment_item_type(), item_id_of(id));
  if (!item) return std::unexpected(item.error());
  PaymentRow row{.id = std::move(id),
                 .status = entry.status,
                 .item = std::nullopt,
                 .scheduled = entry.scheduled,
                 .reason = std::move(entry.reason)};
  if (*item) row.item = (*item)->state;
  return row;
}

Result<PaymentPage> EmbeddedPayments::list(std::optional<PaymentStatus> status,
                                           const PaymentId& after, std::size_t limit) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  return status && is_indexed(*status) ? list_indexed(*view, *status, after, limit)
                                       : list_walking(*view, status, after, limit);
}

Result<PaymentPage> EmbeddedPayments::list_indexed(const Engine::View& view, PaymentStatus status,
                                                   const PaymentId& after,
                                                   std::size_t limit) const {
  PaymentPage page;
  Cursor keys(view, Family::payment_order, payment_status_key(status, after.str()) + '\0',
              behind(payment_status_key(status)));
  for (; keys.valid(); keys.next()) {
    if (page.rows.size() == limit) {
      page.next = page.rows.empty() ? after : page.rows.back().id;
      return page;
    }
    Result<PaymentId> id = decode_payment_status_key(keys.key());
    if (!id) return std::unexpected(view.in_folder(std::move(id.error())));
    Result<std::optional<PaymentEntry>> entry = read_payment(view, *id);
    if (!entry) return std::unexpected(std::move(entry.error()));
    if (!*entry || (*entry)->status != status) continue;  // it moved while we looked
    Result<PaymentRow> row = row_of(view, std::move(*id), std::move(**entry));
    if (!row) return std::unexpected(std::move(row.error()));
    page.rows.push_back(std::move(*row));
  }
  if (Result<void> read = keys.status(); !read) return std::unexpected(read.error());
  return page;
}

Result<PaymentPage> EmbeddedPayments::list_walking(const Engine::View& view,
                                                   std::optional<PaymentStatus> status,
                                                   const PaymentId& after,
                                                   std::size_t limit) const {
  PaymentPage page;
  std::size_t looked_at = 0;
  PaymentId last = after;
  Cursor rows(view, Family::payment, after.str() + '\0', "");
  if (after.empty()) rows.seek("");
  for (; rows.valid(); rows.next()) {
    if (page.rows.size() == limit || looked_at == kPaymentRowsLookedAt) {
      page.next = std::move(last);
      return page;
    }
    ++looked_at;
    last = PaymentId::trusted(std::string(rows.key()));
    Result<PaymentEntry> entry = decode_payment(rows.value());
    if (!entry) return std::unexpected(view.in_folder(std::move(entry.error())));
    Result<PaymentRow> row = row_of(view, last, std::move(*entry));
    if (!row) return std::unexpected(std::move(row.error()));
    if (!status || row->shown() == *status) page.rows.push_back(std::move(*row));
  }
  if (Result<void> read = rows.status(); !read) return std::unexpected(read.error());
  return page;
}

Result<PaymentSweep> EmbeddedPayments::forget(Instant before, const PaymentPlace& from,
                                              std::size_t limit) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  PaymentWrites writes(*view, batch);
  PaymentSweep sweep;
  PaymentPlace last = from;
  std::size_t looked_at = 0;
  Cursor keys(*view, Family::payment_order, payment_time_key(from.scheduled, from.id.str()) + '\0',
              payment_time_key(before));
  if (from.id.empty()) keys.seek(payment_time_key(from.scheduled));
  for (; keys.valid(); keys.next()) {
    if (looked_at++ == limit) {
      sweep.next = last;
      break;
    }
    Result<PaymentPlace> place = decode_payment_time_key(keys.key());
    if (!place) return std::unexpected(view->in_folder(std::move(place.error())));
    last = std::move(*place);
    const Result<std::optional<PaymentEntry>> entry = read_payment(*view, last.id);
    if (!entry) return std::unexpected(entry.error());
    const auto item = read_item(*view, payment_item_type(), item_id_of(last.id));
    if (!item) return std::unexpected(item.error());
    if (!*entry || *item || (*entry)->status == PaymentStatus::held) continue;
    writes.forget(last, (*entry)->status);
    ++sweep.gone;
  }
  if (!keys.valid()) {
    if (Result<void> read = keys.status(); !read) return std::unexpected(read.error());
  }
  if (Result<void> status = writes.status(); !status) return std::unexpected(status.error());
  if (sweep.gone == 0) return sweep;
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return sweep;
}

Result<PaymentRuleRecord> EmbeddedPaymentRules::put(const core::PaymentRules& rules,
                                                    std::optional<Instant> now) {
  if (Result<void> checked = core::check_rules(rules); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  Result<PaymentRuleRecord> record = get();
  if (!record) return record;
  ++record->revision;
  record->rules = rules;
  record->changed = now.value_or(writer_.clock.now());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  const rocksdb::Status status = batch.Put(
      view->family(Family::meta), rocksdb::Slice(kPaymentRulesKey.data(), kPaymentRulesKey.size()),
      encode_payment_rule_record(*record));
  if (!status.ok()) return std::unexpected(view->translate(status, "write"));
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return record;
}

Result<PaymentRuleRecord> EmbeddedPaymentRules::get() {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  std::string value;
  const rocksdb::Status status =
      view->db().Get(rocksdb::ReadOptions(), view->family(Family::meta),
                     rocksdb::Slice(kPaymentRulesKey.data(), kPaymentRulesKey.size()), &value);
  if (status.IsNotFound()) return PaymentRuleRecord{};
  if (!status.ok()) return std::unexpected(view->translate(status, "read the payment rules"));
  Result<PaymentRuleRecord> record = decode_payment_rule_record(value);
  if (!record) return std::unexpected(view->in_folder(std::move(record.error())));
  return record;
}

// The record is small: reading it is as cheap as reading a number.
Result<std::uint64_t> EmbeddedPaymentRules::revision() {
  const Result<PaymentRuleRecord> record = get();
  if (!record) return std::unexpected(record.error());
  return record->revision;
}

}  // namespace penstock::store::embedded
