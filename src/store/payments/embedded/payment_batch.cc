#include "store/payments/embedded/payment_batch.h"

#include <rocksdb/perf_level.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/rocksdb/bytes.h"
#include "store/queue/embedded/queue_step.h"

namespace penstock::store::embedded {
namespace {

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

Error foreign_item(const PaymentId& id) {
  return {.kind = ErrorKind::conflict,
          .what = "there is an item PAYMENT:" + id.str() + " that belongs to no payment"};
}

NewItem item_of(const NewPayment& payment) {
  return {.type = payment_item_type(),
          .id = ItemId::trusted(payment.id.str()),
          .due = payment.scheduled,
          .slot = std::nullopt,
          .context = payment.context,
          .digest = payment.digest};
}

void add_payment(Changes& changes, const PaymentId& id, const PaymentEntry& payment) {
  changes.put(Family::payment, id.str(), encode_payment(payment));
  changes.put(Family::payment_order, payment_time_key(payment.scheduled, id.str()), encode_mark());
  if (is_indexed(payment.status)) {
    changes.put(Family::payment_order, payment_status_key(payment.status, id.str()), encode_mark());
  }
}

void change_payment(Changes& changes, const PaymentId& id, PaymentStatus before,
                    const PaymentEntry& payment) {
  changes.put(Family::payment, id.str(), encode_payment(payment));
  if (is_indexed(before)) {
    changes.remove_once(Family::payment_order, payment_status_key(before, id.str()));
  }
}

void forget_payment(Changes& changes, const PaymentPlace& place, PaymentStatus status) {
  changes.remove(Family::payment, place.id.str());
  changes.remove_once(Family::payment_order, payment_time_key(place.scheduled, place.id.str()));
  if (is_indexed(status)) {
    changes.remove_once(Family::payment_order, payment_status_key(status, place.id.str()));
  }
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
  look_up_.run(*view, Family::payment, keys_, /*ascending=*/true);
  std::vector<Result<TakenPayment>> answers(payments_.size());
  item_of_.assign(payments_.size(), kNone);
  foreign_.assign(payments_.size(), false);
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    const std::size_t place = first_[key];
    const NewPayment& payment = payments_[place];
    if (!look_up_.is_missing(key)) {
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
    if (!look_up_.is_missing(key_of_[i])) {
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

Result<TakenPayment> PaymentBatch::known(const Engine::View& view, std::size_t place,
                                         std::size_t key) {
  PaymentEntry entry =
      PENSTOCK_TRY(look_up_.read(view, key, "look the payment up", decode_payment));
  TakenPayment taken{
      .result = entry.digest == payments_[place].digest ? TakeResult::same : TakeResult::different,
      .status = entry.status,
      .item = std::nullopt,
      .scheduled = entry.scheduled,
      .reason = std::move(entry.reason)};
  const std::optional<ItemRecord> item = PENSTOCK_TRY(
      current_item(writer_, view, payment_item_type(), ItemId::trusted(payments_[place].id.str())));
  if (item) {
    taken.item = item->state;
    taken.scheduled = item->scheduled;
  }
  return taken;
}

Result<void> PaymentBatch::write(const Engine::View& view) {
  const auto add = [&](Changes& changes, std::size_t place) {
    add_payment(changes, payments_[place].id, entry_of(payments_[place], now_));
  };
  if (items_.empty()) {
    Changes changes(view);
    for (const std::size_t place : created_) add(changes, place);
    return changes.commit(writer_.engine);
  }
  const auto rider = [&](std::span<const Result<Enqueued>> answers,
                         Changes& changes) -> Result<void> {
    for (const std::size_t place : created_) {
      if (item_of_[place] != kNone) {
        const Result<Enqueued>& item = answers[item_of_[place]];
        if (!item) return std::unexpected(item.error());
        foreign_[place] = item->result != EnqueueResult::created;
        if (foreign_[place]) continue;
      }
      add(changes, place);
    }
    return {};
  };
  for (Result<Enqueued>& answer : enqueue_.run(items_, now_, rider)) {
    if (!answer) return std::unexpected(std::move(answer.error()));
  }
  return {};
}

}  // namespace penstock::store::embedded
