#include "store/quota/postgres/quotas.h"

#include <map>
#include <string>
#include <utility>

#include "core/gateway/message.h"
#include "store/queue/ports.h"
#include "store/queue/postgres/item_columns.h"

namespace penstock::store::postgres {
namespace {

Result<std::vector<Sent>> answers_of(std::span<const Send> sends, const Rows& rows) {
  const std::vector<std::int64_t> results = rows.integers(0, 1);
  const std::vector<std::int64_t> waits = rows.integers(0, 2);
  if (results.size() != sends.size() || waits.size() != sends.size()) {
    return fail(ErrorKind::corrupt, "postgres: gateway_send answers for other messages");
  }
  std::vector<Sent> answers;
  answers.reserve(sends.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    Sent answer{.result = static_cast<SendResult>(results[i]), .retry_after = Micros{waits[i]}};
    if (answer.result == SendResult::sent) answer.id = sends[i].id;
    answers.push_back(std::move(answer));
  }
  const std::vector<std::int64_t> places = rows.integers(0, 3);
  const std::vector<std::string_view> ids = rows.texts(0, 4);
  for (std::size_t i = 0; i < places.size(); ++i) {
    answers[static_cast<std::size_t>(places[i] - 1)].id = ItemId::trusted(std::string(ids[i]));
  }
  return answers;
}

class Quotas final : public QuotaStore {
 public:
  Quotas(Database database, ClaimHints& hints) : database_(database), hints_(hints) {}

  Result<Quota> put(UserId user, const QuotaRule& rule, std::optional<Instant> now) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("put_quota", user.raw, rule.rate_limit,
                                                 std::int64_t{rule.window.count()}, now));
    return core::begin_quota(rule, rows[0][0]);
  }
  Result<std::optional<Quota>> find(UserId user) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("find_quota", user.raw));
    if (rows.empty()) return std::nullopt;
    const auto row = rows[0];
    return Quota{.rule = {.rate_limit = row[0], .window = core::Minutes{row[1].as<std::int64_t>()}},
                 .count = row[2],
                 .refreshed = row[3]};
  }
  Result<bool> remove(UserId user) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("remove_quota", user.raw));
    return !rows.empty();
  }

  std::vector<Result<Sent>> send(std::span<const Send> sends, std::optional<Instant> now) override {
    if (sends.empty()) return {};
    const runtime::Deadline deadline = database_.deadline();
    for (int tried = 1;; ++tried) {
      auto done = send_once(sends, now, deadline);
      if (done) return {std::move_iterator(done->begin()), std::move_iterator(done->end())};
      const bool taken = done.error().code == kUniqueViolation;
      if (!taken && Database::again(done.error(), tried, deadline)) continue;
      Error error = std::move(done.error().error);
      if (taken) error.what = "there is a message of one of these ids already";
      return std::vector<Result<Sent>>(sends.size(), std::unexpected(error));
    }
  }

  std::vector<Result<Charged>> charge(std::span<const Charge> charges,
                                      std::optional<Instant> now) override {
    if (charges.empty()) return {};
    const auto done = charge_all(charges, now);
    if (done) return {done->begin(), done->end()};
    return std::vector<Result<Charged>>(charges.size(), std::unexpected(done.error()));
  }

  Result<void> give_back(std::span<const GiveBack> charges) override {
    if (charges.empty()) return {};
    return database_.tell("give_back_charges", users_of(charges), column(charges, &GiveBack::cost),
                          column(charges, &GiveBack::window));
  }

  Result<void> record(std::span<const UsageDelta> deltas) override {
    if (deltas.empty()) return {};
    std::map<std::pair<UserId, Instant>, UsageCounts> minutes;
    for (const UsageDelta& delta : deltas) {
      minutes[{delta.user, minute_of(delta.minute)}] += delta.counts;
    }
    return database_.tell("record_usage",
                          column(minutes, [](const auto& each) { return each.first.first.raw; }),
                          column(minutes, [](const auto& each) { return each.first.second; }),
                          column(minutes, [](const auto& each) { return each.second.sent; }),
                          column(minutes, [](const auto& each) { return each.second.limited; }),
                          column(minutes, [](const auto& each) { return each.second.failed; }));
  }

  Result<std::vector<UsagePoint>> usage(UserId user, Instant from, Instant to,
                                        std::size_t limit) override {
    const Rows rows =
        PENSTOCK_TRY(database_.ask("gateway_usage", user.raw, minute_of(from), to, limit));
    return rows.map([](auto row) {
      return UsagePoint{.minute = row[0],
                        .counts = {.sent = row[1], .limited = row[2], .failed = row[3]}};
    });
  }

  Result<std::vector<LimitedUser>> top_limited(Instant from, Instant to,
                                               std::size_t limit) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("top_limited", minute_of(from), to, limit));
    return rows.map(
        [](auto row) { return LimitedUser{.user = UserId{row[0]}, .limited = row[1]}; });
  }

  Result<QuotaSweep> forget(Instant keys_before, Instant usage_before, std::size_t limit) override {
    const Call calls[] = {call("forget_keys", keys_before, limit),
                          call("forget_claims", keys_before, limit),
                          call("forget_usage", usage_before, limit)};
    QuotaSweep sweep;
    for (const Rows& rows : PENSTOCK_TRY(database_.ask_all(calls))) {
      const std::size_t gone = rows[0][0];
      sweep.gone += gone;
      sweep.more = sweep.more || gone >= limit;
    }
    return sweep;
  }

 private:
  DatabaseResult<std::vector<Sent>> send_once(std::span<const Send> sends,
                                              std::optional<Instant> now,
                                              const runtime::Deadline& deadline) {
    const auto digests = column(sends, [](const Send& send) { return bytes_of(send.digest); });
    const Call calls[] = {
        call("gateway_send", users_of(sends), column(sends, &Send::cost), column(sends, &Send::id),
             column(sends, &Send::key), Bytes{digests}, Bytes{column(sends, &Send::context)},
             core::key_term(now), now),
        // Behind the commit of the batch; what it says is due now.
        call("announce_items", std::vector<std::string_view>{message_item_type().str()},
             std::vector{now ? epoch_us(*now) : 0}, kAnnounceWithin, now)};
    const auto rows = database_.run(calls, deadline);
    if (!rows) {
      hints_.forget();  // the outcome may be unknown, and with it the time
      return std::unexpected(rows.error());
    }
    const Instant at = rows->front()[0][0];
    hints_.lower(message_item_type(), epoch_us(cut_to_millis(at)));
    Result<std::vector<Sent>> answers = answers_of(sends, rows->front());
    if (!answers) return std::unexpected(DatabaseError{.error = std::move(answers.error())});
    return std::move(*answers);
  }

  Result<std::vector<Charged>> charge_all(std::span<const Charge> charges,
                                          std::optional<Instant> now) {
    const Rows rows = PENSTOCK_TRY(
        database_.insist("gateway_charge", users_of(charges), column(charges, &Charge::cost), now));
    return charged_of(rows, charges.size());
  }

  Database database_;
  ClaimHints& hints_;
};

}  // namespace

Result<std::vector<Charged>> charged_of(const Rows& rows, std::size_t charges) {
  const std::vector<std::int64_t> results = rows.integers(0, 0);
  const std::vector<std::int64_t> windows = rows.integers(0, 1);
  const std::vector<std::int64_t> waits = rows.integers(0, 2);
  if (results.size() != charges || windows.size() != charges || waits.size() != charges) {
    return fail(ErrorKind::corrupt, "postgres: answers for other charges");
  }
  std::vector<Charged> answers;
  for (std::size_t i = 0; i < charges; ++i) {
    answers.push_back({.result = static_cast<ChargeResult>(results[i]),
                       .window = windows[i],
                       .retry_after = Micros{waits[i]}});
  }
  return answers;
}

std::unique_ptr<QuotaStore> make_quotas(Database database, ClaimHints& hints) {
  return std::make_unique<Quotas>(database, hints);
}

}  // namespace penstock::store::postgres
