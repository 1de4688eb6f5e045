#include "store/payments/postgres/payments.h"

#include <map>
#include <string>
#include <utility>

#include "store/queue/ports.h"
#include "store/queue/postgres/queue.h"
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

  Call advance(std::span<const StatusChange> changes, std::optional<Instant> now) const {
    return call(
        "advance_payments", column(places, [](const auto& each) { return each.first; }),
        column(
            places,
            [&](const auto& each) { return static_cast<std::int32_t>(changes[each.second].to); }),
        Bytes{column(
            places,
            [&](const auto& each) {
              return std::string_view(changes[each.second].detail).substr(0, kDetailBytesMax);
            })},
        now);
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
  for (const Round& round : rounds) calls.push_back(round.advance(changes, now));
  Connection::in_one(calls);
  const std::vector<Rows> answered = PENSTOCK_TRY(database_.ask_all(calls));
  std::vector<Advanced> answers(changes.size());
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const std::vector<std::int64_t> results = answered[i].integers(0, 0);
    const std::vector<std::int64_t> statuses = answered[i].integers(0, 1);
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
  const Call calls[] = {call("release_payment", payment.id, payment.scheduled, payment.context,
                             bytes_of(payment.digest), now, payment.reason),
                        earliest.announcement(now)};
  auto answers = database_.ask_all(calls);
  earliest.lower(hints_);  // whatever the answer was, it may be there
  const std::vector<Rows> rows = PENSTOCK_TRY(std::move(answers));
  const int answer = rows.front()[0][0];
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
  const Rows rows = PENSTOCK_TRY(database_.ask("find_payment", id));
  if (rows.empty()) return std::nullopt;
  const auto first = rows[0];
  PaymentRecord record{.id = id,
                       .status = first[kFirst],
                       .created = first[kCreated],
                       .scheduled = first[kScheduled],
                       .reason = first[kReason],
                       .body = first[kBody],
                       .history = {}};
  record.history.push_back(
      {.at = record.created, .from = std::nullopt, .to = record.status, .detail = record.reason});
  for (const auto row : rows) {
    if (row[kAt].null()) continue;
    record.history.push_back(
        {.at = row[kAt], .from = record.status, .to = row[kStatus], .detail = row[kDetail]});
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
  const Rows rows =
      PENSTOCK_TRY(database_.ask(stopped ? "list_stopped_payments" : "list_payments", number, after,
                                 int8_of(limit) + 1,  // one more: whether there is a next page
                                 kPaymentRowsLookedAt));
  PaymentPage page;
  for (const auto row : rows) {
    if (page.rows.size() == limit) {
      page.next = limit == 0 ? after : page.rows.back().id;
      break;
    }
    PaymentRow payment{.id = PaymentId::trusted(row[kId]),
                       .status = row[kStatus],
                       .item = row[kItem].maybe<core::ItemState>(),
                       .scheduled = row[kScheduled],
                       .reason = row[kReason]};
    if (row[kPlace].as<std::size_t>() == kPaymentRowsLookedAt) page.next = payment.id;
    if (row[kCounts]) page.rows.push_back(std::move(payment));
  }
  return page;
}

Result<PaymentSweep> Payments::forget(Instant before, const PaymentPlace& from, std::size_t limit) {
  const Rows rows =
      PENSTOCK_TRY(database_.ask("forget_payments", before, from.scheduled, from.id, limit));
  const auto row = rows[0];
  PaymentSweep sweep{.gone = row[0], .next = std::nullopt};
  if (!row[2].null()) {
    sweep.next = PaymentPlace{.scheduled = row[1], .id = PaymentId::trusted(row[2])};
  }
  return sweep;
}

namespace {

class PaymentRuleTable final : public PaymentRuleStore {
 public:
  explicit PaymentRuleTable(Database database) : database_(database) {}

  Result<PaymentRuleRecord> put(const core::PaymentRules& rules,
                                std::optional<Instant> now) override {
    PENSTOCK_TRY(core::check_rules(rules));
    const Rows rows =
        PENSTOCK_TRY(database_.insist("put_payment_rules", wire::encode_payment_rules(rules), now));
    return PaymentRuleRecord{.revision = rows[0][0], .rules = rules, .changed = rows[0][1]};
  }

  Result<PaymentRuleRecord> get() override {
    const Rows rows = PENSTOCK_TRY(database_.ask("get_payment_rules"));
    if (rows.empty()) return PaymentRuleRecord{};
    const Result<wire::JsonDocument> document = wire::parse_json(rows.text(0, 2));
    Result<core::PaymentRules> rules =
        document ? wire::decode_payment_rules(document->root(), wire::Unknown::ignore)
                 : std::unexpected(document.error());
    if (!rules) {
      return fail(ErrorKind::corrupt, "payment_rules does not hold rules: " + rules.error().what);
    }
    return PaymentRuleRecord{
        .revision = rows[0][0], .rules = std::move(*rules), .changed = rows[0][1]};
  }

  Result<std::uint64_t> revision() override {
    const Rows rows = PENSTOCK_TRY(database_.ask("payment_rules_revision"));
    return rows.empty() ? 0 : rows[0][0].as<std::uint64_t>();
  }

 private:
  Database database_;
};

}  // namespace

std::unique_ptr<PaymentRuleStore> make_payment_rules(Database database) {
  return std::make_unique<PaymentRuleTable>(database);
}

}  // namespace penstock::store::postgres
