#include "store/payments/postgres/payments.h"

#include <map>
#include <string>
#include <utility>

#include "engine/postgres/calls.h"
#include "store/queue/ports.h"
#include "store/queue/postgres/due_times.h"
#include "wire/payments.h"

namespace penstock::store::postgres {
namespace {

// What release_payment answers beside a status.
constexpr int kReleased = -1;
constexpr int kNoPayment = -2;
constexpr int kForeignItem = -3;

// Changes of one call of advance_payments: each payment once, ascending.
struct Round {
  std::map<std::string_view, std::size_t> places;  // id -> change

  Params params(std::span<const StatusChange> changes, std::optional<Instant> now) const {
    std::vector<std::string_view> ids, details;
    std::vector<std::int32_t> targets;
    for (const auto& [id, place] : places) {
      ids.push_back(id);
      targets.push_back(static_cast<std::int32_t>(changes[place].to));
      details.push_back(std::string_view(changes[place].detail).substr(0, kDetailBytesMax));
    }
    Params params;
    params.texts(ids).int4s(targets).byteas(details).int8(epoch_us(now));
    return params;
  }
};

// The first change of each payment, then the second, and so on.
std::vector<Round> rounds_of(std::span<const StatusChange> changes) {
  std::vector<Round> rounds;
  std::map<std::string_view, std::size_t> next;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::size_t round = next[changes[i].id.str()]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].places.emplace(changes[i].id.str(), i);
  }
  return rounds;
}

PaymentStatus status_of(std::int64_t number) { return static_cast<PaymentStatus>(number); }

}  // namespace

Result<std::vector<Advanced>> Payments::advance(std::span<const StatusChange> changes,
                                                std::optional<Instant> now) {
  const std::vector<Round> rounds = rounds_of(changes);
  if (rounds.empty()) return std::vector<Advanced>{};
  std::vector<Call> calls;
  calls.reserve(rounds.size());
  for (const Round& round : rounds) {
    calls.push_back({.sql = statement("advance_payments"),
                     .params = round.params(changes, now),
                     .commit = &round == &rounds.back()});
  }
  const auto answered = run_calls(pool_, calls, runtime::Deadline(deadline_));
  if (!answered) return std::unexpected(answered.error().error);
  std::vector<Advanced> answers(changes.size());
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const std::vector<std::int64_t> results = (*answered)[i].integers(0, 0);
    const std::vector<std::int64_t> statuses = (*answered)[i].integers(0, 1);
    std::size_t at = 0;
    for (const auto& [id, place] : rounds[i].places) {
      answers[place] = {.result = static_cast<AdvanceResult>(results.at(at)),
                        .status = status_of(statuses.at(at))};
      ++at;
    }
  }
  return answers;
}

Result<void> Payments::release(const NewPayment& payment, std::optional<Instant> now) {
  Earliest earliest;
  earliest.add(payment_item_type(), payment.scheduled);
  const Call calls[] = {{.sql = statement("release_payment"),
                         .params = Params()
                                       .text(payment.id.str())
                                       .int8(epoch_us(payment.scheduled))
                                       .bytea(payment.context)
                                       .bytea({reinterpret_cast<const char*>(payment.digest.data()),
                                               payment.digest.size()})
                                       .int8(epoch_us(now))
                                       .bytea(payment.reason)},
                        earliest.announcement(now)};
  const auto rows = run_calls(pool_, calls, runtime::Deadline(deadline_));
  earliest.lower(hints_);  // whatever the answer was, it may be there
  if (!rows) return std::unexpected(rows.error().error);
  const int answer = rows->front().int4(0, 0);
  switch (answer) {
    case kReleased:
      return {};
    case kNoPayment:
      return fail(ErrorKind::not_found, "there is no payment " + payment.id.str());
    case kForeignItem:
      return fail(ErrorKind::conflict,
                  "there is an item PAYMENT:" + payment.id.str() + " that belongs to no payment");
    default:
      return fail(ErrorKind::conflict,
                  "the payment is " + std::string(core::payment_status_name(status_of(answer))));
  }
}

Result<std::optional<PaymentRecord>> Payments::find(const PaymentId& id) {
  enum Column : int { kFirst, kCreated, kScheduled, kReason, kBody, kAt, kStatus, kDetail };
  const auto rows =
      run_call(pool_, {.sql = statement("find_payment"), .params = Params().text(id.str())},
               runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  if (rows->size() == 0) return std::nullopt;
  PaymentRecord record{.id = id,
                       .status = status_of(rows->int2(0, kFirst)),
                       .created = from_epoch_us(rows->int8(0, kCreated)),
                       .scheduled = from_epoch_us(rows->int8(0, kScheduled)),
                       .reason = std::string(rows->text(0, kReason)),
                       .body = std::string(rows->text(0, kBody)),
                       .history = {}};
  record.history.push_back(
      {.at = record.created, .from = std::nullopt, .to = record.status, .detail = record.reason});
  for (int row = 0; row < rows->size(); ++row) {
    if (rows->null(row, kAt)) continue;
    record.history.push_back({.at = from_epoch_us(rows->int8(row, kAt)),
                              .from = record.status,
                              .to = status_of(rows->int2(row, kStatus)),
                              .detail = std::string(rows->text(row, kDetail))});
    record.status = record.history.back().to;
  }
  return record;
}

Result<PaymentPage> Payments::list(std::optional<PaymentStatus> status, const PaymentId& after,
                                   std::size_t limit) {
  enum Column : int { kId, kStatus, kItem, kScheduled, kReason, kCounts, kPlace };
  const bool stopped = status == PaymentStatus::held || status == PaymentStatus::rejected;
  std::optional<std::int64_t> number;
  if (status) number = static_cast<std::int64_t>(*status);
  const auto rows =
      run_call(pool_,
               {.sql = statement(stopped ? "list_stopped_payments" : "list_payments"),
                .params = Params()
                              .int8(number)
                              .text(after.str())
                              .int8(int8_of(limit) + 1)  // one more: whether there is a next page
                              .int8(int8_of(kPaymentRowsLookedAt))},
               runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  PaymentPage page;
  for (int row = 0; row < rows->size(); ++row) {
    if (page.rows.size() == limit) {
      page.next = limit == 0 ? after : page.rows.back().id;
      break;
    }
    PaymentRow payment{.id = PaymentId::trusted(std::string(rows->text(row, kId))),
                       .status = status_of(rows->int4(row, kStatus)),
                       .item = std::nullopt,
                       .scheduled = from_epoch_us(rows->int8(row, kScheduled)),
                       .reason = std::string(rows->text(row, kReason))};
    if (!rows->null(row, kItem)) {
      payment.item = static_cast<core::ItemState>(rows->int4(row, kItem));
    }
    if (rows->int8(row, kPlace) == int8_of(kPaymentRowsLookedAt)) page.next = payment.id;
    if (rows->boolean(row, kCounts)) page.rows.push_back(std::move(payment));
  }
  return page;
}

Result<PaymentSweep> Payments::forget(Instant before, const PaymentPlace& from, std::size_t limit) {
  const auto rows = run_call(pool_,
                             {.sql = statement("forget_payments"),
                              .params = Params()
                                            .int8(epoch_us(before))
                                            .int8(epoch_us(from.scheduled))
                                            .text(from.id.str())
                                            .int8(int8_of(limit))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  PaymentSweep sweep{.gone = static_cast<std::size_t>(rows->int8(0, 0)), .next = std::nullopt};
  if (!rows->null(0, 2)) {
    sweep.next = PaymentPlace{.scheduled = from_epoch_us(rows->int8(0, 1)),
                              .id = PaymentId::trusted(std::string(rows->text(0, 2)))};
  }
  return sweep;
}

Result<PaymentRuleRecord> PaymentRuleTable::put(const core::PaymentRules& rules,
                                                std::optional<Instant> now) {
  constexpr int kReportAttempts = 5;  // as many changes within milliseconds: somebody loops
  if (Result<void> checked = core::check_rules(rules); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const runtime::Deadline deadline(deadline_);
  const std::string json = wire::encode_payment_rules(rules);
  for (int tried = 1;; ++tried) {
    const Call call{.sql = statement("put_payment_rules"),
                    .params = Params().bytea(json).int8(epoch_us(now))};
    const auto rows = run_calls(pool_, {&call, 1}, deadline);
    if (rows) {
      return PaymentRuleRecord{.revision = static_cast<std::uint64_t>(rows->front().int8(0, 0)),
                               .rules = rules,
                               .changed = from_epoch_us(rows->front().int8(0, 1))};
    }
    if (!worth_repeating(rows.error()) || tried == kReportAttempts) {
      return std::unexpected(rows.error().error);
    }
  }
}

Result<PaymentRuleRecord> PaymentRuleTable::get() {
  const auto rows =
      run_call(pool_, {.sql = statement("get_payment_rules")}, runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  if (rows->size() == 0) return PaymentRuleRecord{};
  const Result<wire::JsonDocument> document = wire::parse_json(rows->text(0, 2));
  Result<core::PaymentRules> rules =
      document ? wire::decode_payment_rules(document->root()) : std::unexpected(document.error());
  if (!rules) {
    return fail(ErrorKind::corrupt, "payment_rules does not hold rules: " + rules.error().what);
  }
  return PaymentRuleRecord{.revision = static_cast<std::uint64_t>(rows->int8(0, 0)),
                           .rules = std::move(*rules),
                           .changed = from_epoch_us(rows->int8(0, 1))};
}

Result<std::uint64_t> PaymentRuleTable::revision() {
  const auto rows =
      run_call(pool_, {.sql = statement("payment_rules_revision")}, runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return rows->size() == 0 ? 0 : static_cast<std::uint64_t>(rows->int8(0, 0));
}

}  // namespace penstock::store::postgres
