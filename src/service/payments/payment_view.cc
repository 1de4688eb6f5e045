#include "service/payments/payment_service.h"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

using core::ItemState;
using core::PaymentStatus;
using store::PaymentNote;

// What an entry of the item's audit means for a payment that waits for its hand-over.
std::optional<PaymentNote> note_of(const store::AuditEntry& entry) {
  PaymentNote note{.at = entry.at,
                   .from = PaymentStatus::scheduled,
                   .to = PaymentStatus::failed,
                   .detail = entry.detail};
  if (entry.to == ItemState::dead) return note;
  if (entry.to == ItemState::cancelled) {
    if (note.detail.empty()) note.detail = "cancelled";
    return note;
  }
  if (entry.to == ItemState::ready && entry.from == ItemState::dead) {
    note.from = PaymentStatus::failed;
    note.to = PaymentStatus::scheduled;
    note.detail = "redriven";
    return note;
  }
  return std::nullopt;
}

std::vector<PaymentNote> tell(const std::vector<PaymentNote>& kept,
                              const std::vector<store::AuditEntry>& audit) {
  std::vector<PaymentNote> story;
  auto next = kept.begin();
  const auto add_kept = [&] {
    story.push_back(*next++);
    // The queue may have said FAILED before.
    if (story.size() > 1) story.back().from = story[story.size() - 2].to;
  };
  for (const store::AuditEntry& entry : audit) {
    const std::optional<PaymentNote> note = note_of(entry);
    if (!note) continue;
    while (next != kept.end() && next->at <= note->at) add_kept();
    if (!story.empty() && story.back().to == note->from) story.push_back(*note);
  }
  while (next != kept.end()) add_kept();
  return story;
}

}  // namespace

PaymentView view_payment(store::PaymentRecord payment, std::optional<store::ItemView> item) {
  PaymentView view{
      .payment = std::move(payment), .item = std::move(item), .status = {}, .history = {}};
  std::optional<ItemState> state;
  if (view.item) state = view.item->state;
  view.status = core::shown_status(view.payment.status, state);
  view.history = view.item ? tell(view.payment.history, view.item->audit) : view.payment.history;
  return view;
}

}  // namespace penstock::service
