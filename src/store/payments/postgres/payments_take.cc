// PaymentStore::take.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "store/payments/postgres/payments.h"
#include "store/queue/postgres/queue.h"

namespace penstock::store::postgres {
namespace {

// The columns of take_payments.
enum TakeColumn : int { kPlace, kDigest, kStatus, kItem, kTakeScheduled, kReason, kForeign };

Call take_call(std::span<const NewPayment> payments, const std::vector<std::size_t>& places,
               bool trusted, std::optional<Instant> now) {
  const auto of = [&](auto member) {
    return [&payments, member](std::size_t place) -> decltype(auto) {
      return std::invoke(member, payments[place]);
    };
  };
  const auto statuses = column(
      places, [&](std::size_t place) { return static_cast<std::int32_t>(payments[place].status); });
  const auto digests =
      column(places, [&](std::size_t place) { return bytes_of(payments[place].digest); });
  return call("take_payments", column(places, of(&NewPayment::id)), statuses,
              column(places, of(&NewPayment::scheduled)),
              Bytes{column(places, of(&NewPayment::reason))}, Bytes{digests},
              Bytes{column(places, of(&NewPayment::body))},
              Bytes{column(places, of(&NewPayment::context))}, trusted, now);
}

TakenPayment created(const NewPayment& payment) {
  TakenPayment taken{.result = TakeResult::created,
                     .status = payment.status,
                     .item = std::nullopt,
                     .scheduled = payment.scheduled,
                     .reason = payment.reason};
  if (payment.status == PaymentStatus::scheduled) taken.item = core::ItemState::ready;
  return taken;
}

TakeResult against(const core::BodyDigest& stored, const core::BodyDigest& digest) {
  return stored == digest ? TakeResult::same : TakeResult::different;
}

Error foreign_item(const PaymentId& id) {
  return {.kind = ErrorKind::conflict,
          .what = "there is an item PAYMENT:" + id.str() + " that belongs to no payment"};
}

}  // namespace

DatabaseResult<Payments::Answers> Payments::take_once(std::span<const NewPayment> payments,
                                                      const Places& firsts, LookUp look_up,
                                                      std::optional<Instant> now,
                                                      const runtime::Deadline& deadline) {
  Earliest earliest;
  for (const std::size_t place : firsts) {
    if (payments[place].status == PaymentStatus::scheduled) {
      earliest.add(payment_item_type(), payments[place].scheduled);
    }
  }
  std::vector<Call> calls;
  calls.push_back(take_call(payments, firsts, look_up == LookUp::trust, now));
  if (!earliest.types.empty()) calls.push_back(earliest.announcement(now));
  auto done = database_.run(calls, deadline);
  earliest.lower(hints_);  // whatever the answer was, they may be there
  const std::vector<Rows> answered = PENSTOCK_TRY(std::move(done));
  const Rows& rows = answered.front();
  Answers answers{.answers = std::vector<Result<TakenPayment>>(
                      payments.size(), fail(ErrorKind::corrupt, "no answer")),
                  .stored = std::vector<core::BodyDigest>(payments.size())};
  for (const std::size_t place : firsts) {
    answers.answers[place] = created(payments[place]);
    answers.stored[place] = payments[place].digest;
  }
  const std::vector<std::int64_t> places = rows.integers(0, kPlace);
  const std::vector<std::string_view> digests = rows.texts(0, kDigest);
  const std::vector<std::int64_t> statuses = rows.integers(0, kStatus);
  const std::vector<std::int64_t> items = rows.integers(0, kItem);
  const std::vector<std::int64_t> times = rows.integers(0, kTakeScheduled);
  const std::vector<std::string_view> reasons = rows.texts(0, kReason);
  PENSTOCK_CHECK(digests.size() == places.size() && statuses.size() == places.size());
  PENSTOCK_CHECK(items.size() == places.size() && times.size() == places.size());
  PENSTOCK_CHECK(reasons.size() == places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t place = firsts[static_cast<std::size_t>(places[i]) - 1];
    std::memcpy(answers.stored[place].data(), digests[i].data(),
                std::min(digests[i].size(), answers.stored[place].size()));
    TakenPayment& taken = *answers.answers[place];
    taken = {.result = against(answers.stored[place], payments[place].digest),
             .status = static_cast<PaymentStatus>(statuses[i]),
             .item = std::nullopt,
             .scheduled = from_epoch_us(times[i]),
             .reason = std::string(reasons[i])};
    if (items[i] >= 0) taken.item = static_cast<core::ItemState>(items[i]);
  }
  for (const std::int64_t foreign : rows.integers(0, kForeign)) {
    const std::size_t place = firsts[static_cast<std::size_t>(foreign) - 1];
    answers.answers[place] = std::unexpected(foreign_item(payments[place].id));
  }
  return answers;
}

std::vector<Result<TakenPayment>> Payments::take(std::span<const NewPayment> payments,
                                                 std::optional<Instant> now) {
  if (payments.empty()) return {};
  const runtime::Deadline deadline = database_.deadline();
  const Distinct distinct(payments,
                          [](const NewPayment& payment) -> const PaymentId& { return payment.id; });
  auto done = doubt_.send(
      deadline,
      [&](LookUp look_up) {
        return take_once(payments, distinct.firsts(), look_up, now, deadline);
      },
      Database::again,
      [&](const Answers& answer) {
        return std::ranges::all_of(distinct.firsts(), [&](std::size_t place) {
          const Result<TakenPayment>& each = answer.answers[place];
          return each && each->result == TakeResult::created;
        });
      });
  if (!done)
    return std::vector<Result<TakenPayment>>(payments.size(), std::unexpected(done.error()));
  std::vector<Result<TakenPayment>>& answers = done->answers;
  for (std::size_t i = 0; i < payments.size(); ++i) {
    const std::size_t first = distinct.first_of(i);
    if (first == i) continue;
    answers[i] = answers[first];
    if (answers[i]) answers[i]->result = against(done->stored[first], payments[i].digest);
  }
  return std::move(answers);
}

}  // namespace penstock::store::postgres
