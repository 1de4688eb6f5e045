// PaymentStore::take.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "engine/postgres/calls.h"
#include "store/payments/postgres/payments.h"
#include "store/queue/postgres/due_times.h"

namespace penstock::store::postgres {
namespace {

// The columns of take_payments.
enum TakeColumn : int { kPlace, kDigest, kStatus, kItem, kTakeScheduled, kReason, kForeign };

std::string_view bytes_of(const core::BodyDigest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Which payments of a batch are which: a later one of the same id is the first one again.
struct DistinctPayments {
  explicit DistinctPayments(std::span<const NewPayment> payments) : first_of(payments.size()) {
    std::vector<std::size_t> places(payments.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::sort(places, [&](std::size_t a, std::size_t b) {
      return std::tie(payments[a].id, a) < std::tie(payments[b].id, b);
    });
    for (const std::size_t place : places) {
      if (firsts.empty() || payments[firsts.back()].id != payments[place].id) {
        firsts.push_back(place);
      }
      first_of[place] = firsts.back();
    }
  }

  std::vector<std::size_t> firsts;    // ascending by id
  std::vector<std::size_t> first_of;  // payment -> the first of its id
};

Params params_of(std::span<const NewPayment> payments, const std::vector<std::size_t>& places,
                 bool trusted, std::optional<Instant> now) {
  std::vector<std::string_view> ids, reasons, digests, bodies, contexts;
  std::vector<std::int32_t> statuses;
  std::vector<std::int64_t> scheduled;
  for (const std::size_t place : places) {
    const NewPayment& payment = payments[place];
    ids.emplace_back(payment.id.str());
    statuses.push_back(static_cast<std::int32_t>(payment.status));
    scheduled.push_back(epoch_us(payment.scheduled));
    reasons.emplace_back(payment.reason);
    digests.push_back(bytes_of(payment.digest));
    bodies.emplace_back(payment.body);
    contexts.emplace_back(payment.context);
  }
  Params params;
  params.texts(ids).int4s(statuses).int8s(scheduled).byteas(reasons).byteas(digests);
  params.byteas(bodies).byteas(contexts).boolean(trusted).int8(epoch_us(now));
  return params;
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
                                                      const Places& firsts, bool trusted,
                                                      std::optional<Instant> now,
                                                      const runtime::Deadline& deadline) {
  Earliest earliest;
  for (const std::size_t place : firsts) {
    if (payments[place].status == PaymentStatus::scheduled) {
      earliest.add(payment_item_type(), payments[place].scheduled);
    }
  }
  std::vector<Call> calls;
  calls.push_back(
      {.sql = statement("take_payments"), .params = params_of(payments, firsts, trusted, now)});
  if (!earliest.types.empty()) calls.push_back(earliest.announcement(now));
  const auto answered = run_calls(pool_, calls, deadline);
  earliest.lower(hints_);  // whatever the answer was, they may be there
  if (!answered) return std::unexpected(answered.error());
  const Rows& rows = answered->front();
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
  const runtime::Deadline deadline(deadline_);
  const DistinctPayments distinct(payments);
  const bool doubtful = doubt_.is_there();
  for (int tried = 1;; ++tried) {
    auto done = take_once(payments, distinct.firsts, tried == 1 && !doubtful, now, deadline);
    if (done) {
      std::vector<Result<TakenPayment>>& answers = done->answers;
      const auto is_new = [&](std::size_t place) {
        return answers[place] && answers[place]->result == TakeResult::created;
      };
      doubt_.learn(tried == 1 && std::ranges::all_of(distinct.firsts, is_new));
      for (std::size_t i = 0; i < payments.size(); ++i) {
        const std::size_t first = distinct.first_of[i];
        if (first == i) continue;
        answers[i] = answers[first];
        if (answers[i]) answers[i]->result = against(done->stored[first], payments[i].digest);
      }
      return std::move(answers);
    }
    if (worth_repeating(done.error()) && tried < kAttempts && !deadline.passed()) continue;
    Error error = std::move(done.error().error);
    // Ours to retry, not a fault of the request.
    if (error.kind == ErrorKind::conflict) error.kind = ErrorKind::unavailable;
    return std::vector<Result<TakenPayment>>(payments.size(), std::unexpected(error));
  }
}

}  // namespace penstock::store::postgres
