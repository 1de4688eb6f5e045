#include "store/payments/embedded/payment_batch.h"

#include <rocksdb/perf_level.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/rocksdb/cursor.h"
#include "store/queue/embedded/queue_reads.h"

namespace penstock::store::embedded {
namespace {

Error foreign_item(const PaymentId& id) {
  return {.kind = ErrorKind::conflict,
          .what = "there is an item PAYMENT:" + id.str() + " that belongs to no payment"};
}

PaymentEntry entry_of(const NewPayment& payment, Instant now) {
  PaymentEntry entry{.status = payment.status,
                     .created = now,
                     .scheduled = payment.scheduled,
                     .digest = payment.digest,
                     .reason = payment.reason,
                     .trail = {},
                     .body = payment.body};
  put_payment_note(
      entry.trail,
      {.at = now, .from = std::nullopt, .to = payment.status, .detail = payment.reason});
  return entry;
}

}  // namespace

NewItem item_of(const NewPayment& payment) {
  return {.type = payment_item_type(),
          .id = ItemId::trusted(payment.id.str()),
          .due = payment.scheduled,
          .slot = std::nullopt,
          .context = payment.context,
          .digest = payment.digest};
}

void PaymentWrites::put(Family family, std::string_view key, std::string_view value) {
  const rocksdb::Status done = batch_.Put(view_.family(family), slice(key), slice(value));
  if (status_.ok()) status_ = done;
}

// As QueueStep: of a key that is never put twice without being removed between.
void PaymentWrites::remove_once(Family family, std::string_view key) {
  const rocksdb::Status done = batch_.SingleDelete(view_.family(family), slice(key));
  if (status_.ok()) status_ = done;
}

void PaymentWrites::add(const PaymentId& id, const PaymentEntry& payment) {
  encode_payment(payment, value_);
  put(Family::payment, id.str(), value_);
  put(Family::payment_order, payment_time_key(payment.scheduled, id.str()), encode_payment_mark());
  if (is_indexed(payment.status)) {
    put(Family::payment_order, payment_status_key(payment.status, id.str()), encode_payment_mark());
  }
}

void PaymentWrites::change(const PaymentId& id, PaymentStatus before, const PaymentEntry& payment) {
  encode_payment(payment, value_);
  put(Family::payment, id.str(), value_);
  if (is_indexed(before)) {
    remove_once(Family::payment_order, payment_status_key(before, id.str()));
  }
}

void PaymentWrites::forget(const PaymentPlace& place, PaymentStatus status) {
  const rocksdb::Status done = batch_.Delete(view_.family(Family::payment), slice(place.id.str()));
  if (status_.ok()) status_ = done;
  remove_once(Family::payment_order, payment_time_key(place.scheduled, place.id.str()));
  if (is_indexed(status)) {
    remove_once(Family::payment_order, payment_status_key(status, place.id.str()));
  }
}

Result<void> PaymentWrites::status() const {
  if (!status_.ok()) return std::unexpected(view_.translate(status_, "write"));
  return {};
}

std::vector<Result<TakenPayment>> PaymentBatch::run() {
  if (payments_.empty()) return {};
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);  // as AssignBatch
  const auto all_fail = [&](const Error& error) {
    return std::vector<Result<TakenPayment>>(payments_.size(), std::unexpected(error));
  };
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return all_fail(view.error());
  sort();
  look_up(*view);
  std::vector<Result<TakenPayment>> answers(payments_.size());
  item_of_.assign(payments_.size(), kNone);
  foreign_.assign(payments_.size(), false);
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    const std::size_t place = first_[key];
    const NewPayment& payment = payments_[place];
    if (!statuses_[key].IsNotFound()) {
      answers[place] = known(*view, place, key);
      continue;
    }
    created_.push_back(place);
    answers[place] = TakenPayment{.result = TakeResult::created,
                                  .status = payment.status,
                                  .item = std::nullopt,
                                  .scheduled = payment.scheduled,
                                  .reason = payment.reason};
    if (payment.status != PaymentStatus::scheduled) continue;
    answers[place]->item = ItemState::ready;
    item_of_[place] = items_.size();
    items_.push_back(item_of(payment));
  }
  if (Result<void> written = write(*view); !written) return all_fail(written.error());
  for (std::size_t i = 0; i < payments_.size(); ++i) {
    const std::size_t first = first_[key_of_[i]];
    if (foreign_[first]) answers[first] = std::unexpected(foreign_item(payments_[first].id));
    if (first == i) continue;
    if (!statuses_[key_of_[i]].IsNotFound()) {
      answers[i] = known(*view, i, key_of_[i]);
      continue;
    }
    answers[i] = answers[first];
    if (!answers[i]) continue;
    answers[i]->result =
        payments_[i].digest == payments_[first].digest ? TakeResult::same : TakeResult::different;
  }
  return answers;
}

// Ascending keys are cheaper to look up and to write, and show duplicates.
void PaymentBatch::sort() {
  order_.resize(payments_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, {},
                           [&](std::size_t i) -> const PaymentId& { return payments_[i].id; });
  key_of_.resize(payments_.size());
  for (const std::size_t place : order_) {
    if (first_.empty() || payments_[first_.back()].id != payments_[place].id) {
      first_.push_back(place);
      keys_.emplace_back(payments_[place].id.str());
    }
    key_of_[place] = first_.size() - 1;
  }
}

void PaymentBatch::look_up(const Engine::View& view) {
  found_.resize(keys_.size());
  statuses_.resize(keys_.size());
  view.db().MultiGet(rocksdb::ReadOptions(), view.family(Family::payment), keys_.size(),
                     keys_.data(), found_.data(), statuses_.data(), /*sorted_input=*/true);
}

Result<TakenPayment> PaymentBatch::known(const Engine::View& view, std::size_t place,
                                         std::size_t key) {
  if (!statuses_[key].ok()) {
    return std::unexpected(view.translate(statuses_[key], "look the payment up"));
  }
  Result<PaymentEntry> entry = decode_payment({found_[key].data(), found_[key].size()});
  if (!entry) return std::unexpected(view.in_folder(std::move(entry.error())));
  TakenPayment taken{
      .result = entry->digest == payments_[place].digest ? TakeResult::same : TakeResult::different,
      .status = entry->status,
      .item = std::nullopt,
      .scheduled = entry->scheduled,
      .reason = std::move(entry->reason)};
  const Result<std::optional<ItemRecord>> item =
      current_item(writer_, view, payment_item_type(), ItemId::trusted(payments_[place].id.str()));
  if (!item) return std::unexpected(item.error());
  if (*item) {
    taken.item = (*item)->state;
    taken.scheduled = (*item)->scheduled;
  }
  return taken;
}

void PaymentBatch::add_to(PaymentWrites& writes, std::size_t place) const {
  writes.add(payments_[place].id, entry_of(payments_[place], now_));
}

Result<void> PaymentBatch::write(const Engine::View& view) {
  if (created_.empty()) return {};
  if (items_.empty()) return write_alone(view);
  const auto rider = [&](std::span<const Result<Enqueued>> answers, rocksdb::WriteBatch& batch) {
    PaymentWrites writes(view, batch);
    for (const std::size_t place : created_) {
      if (item_of_[place] != kNone) {
        const Result<Enqueued>& item = answers[item_of_[place]];
        if (!item) return Result<void>(std::unexpected(item.error()));
        foreign_[place] = item->result != EnqueueResult::created;
        if (foreign_[place]) continue;
      }
      add_to(writes, place);
    }
    return writes.status();
  };
  for (Result<Enqueued>& answer : enqueue_.run(items_, now_, rider)) {
    if (!answer) return std::unexpected(std::move(answer.error()));
  }
  return {};
}

Result<void> PaymentBatch::write_alone(const Engine::View& view) {
  rocksdb::WriteBatch batch;
  PaymentWrites writes(view, batch);
  for (const std::size_t place : created_) add_to(writes, place);
  if (Result<void> status = writes.status(); !status) return status;
  return writer_.engine.commit(batch);
}

}  // namespace penstock::store::embedded
