#include "store/quota/postgres/quotas.h"

#include <map>
#include <string>
#include <utility>

#include "core/gateway/message.h"
#include "engine/postgres/calls.h"
#include "store/queue/ports.h"

namespace penstock::store::postgres {
namespace {

Params params_of(std::span<const Send> sends, std::optional<Instant> now) {
  std::vector<std::int32_t> users;
  std::vector<std::int64_t> costs;
  std::vector<std::string_view> ids;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> digests;
  std::vector<std::string_view> contexts;
  for (const Send& send : sends) {
    users.push_back(send.user.raw);
    costs.push_back(send.cost);
    ids.emplace_back(send.id.str());
    keys.emplace_back(send.key);
    digests.emplace_back(reinterpret_cast<const char*>(send.digest.data()), send.digest.size());
    contexts.emplace_back(send.context);
  }
  Params params;
  params.int4s(users)
      .int8s(costs)
      .texts(ids)
      .texts(keys)
      .byteas(digests)
      .byteas(contexts)
      .int8(std::int64_t{Micros{core::key_term(now)}.count()})
      .int8(epoch_us(now));
  return params;
}

// Behind the commit of the batch; what it says is due now.
Call announcement(std::optional<Instant> now) {
  const std::string_view types[] = {message_item_type().str()};
  const std::int64_t due_us[] = {now ? epoch_us(*now) : 0};
  return {.sql = statement("announce_items"),
          .params = Params()
                        .texts(types)
                        .int8s(due_us)
                        .int8(std::int64_t{Micros{kAnnounceWithin}.count()})
                        .int8(epoch_us(now))};
}

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

}  // namespace

Result<Quota> Quotas::put(UserId user, const QuotaRule& rule, std::optional<Instant> now) {
  const auto rows = run_call(pool_,
                             {.sql = statement("put_quota"),
                              .params = Params()
                                            .int4(user.raw)
                                            .int8(rule.rate_limit)
                                            .int8(std::int64_t{rule.window.count()})
                                            .int8(epoch_us(now))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return core::begin_quota(rule, from_epoch_us(rows->int8(0, 0)));
}

Result<std::optional<Quota>> Quotas::find(UserId user) {
  const auto rows =
      run_call(pool_, {.sql = statement("find_quota"), .params = Params().int4(user.raw)},
               runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  if (rows->size() == 0) return std::nullopt;
  return Quota{.rule = {.rate_limit = rows->int8(0, 0), .window = core::Minutes{rows->int8(0, 1)}},
               .count = rows->int8(0, 2),
               .refreshed = from_epoch_us(rows->int8(0, 3))};
}

Result<bool> Quotas::remove(UserId user) {
  const auto rows =
      run_call(pool_, {.sql = statement("remove_quota"), .params = Params().int4(user.raw)},
               runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return rows->size() > 0;
}

DatabaseResult<std::vector<Sent>> Quotas::send_once(std::span<const Send> sends,
                                                    std::optional<Instant> now,
                                                    const runtime::Deadline& deadline) {
  const Call calls[] = {{.sql = statement("gateway_send"), .params = params_of(sends, now)},
                        announcement(now)};
  const auto rows = run_calls(pool_, calls, deadline);
  if (!rows) {
    hints_.forget();  // the outcome may be unknown, and with it the time
    return std::unexpected(rows.error());
  }
  hints_.lower(message_item_type(),
               epoch_us(cut_to_millis(from_epoch_us(rows->front().int8(0, 0)))));
  Result<std::vector<Sent>> answers = answers_of(sends, rows->front());
  if (!answers) return std::unexpected(DatabaseError{.error = std::move(answers.error())});
  return std::move(*answers);
}

std::vector<Result<Sent>> Quotas::send(std::span<const Send> sends, std::optional<Instant> now) {
  if (sends.empty()) return {};
  const runtime::Deadline deadline(deadline_);
  for (int tried = 1;; ++tried) {
    auto done = send_once(sends, now, deadline);
    if (done) {
      return {std::move_iterator(done->begin()), std::move_iterator(done->end())};
    }
    const bool taken = done.error().sqlstate == kUniqueViolation;
    if (!taken && worth_repeating(done.error()) && tried < kAttempts && !deadline.passed()) {
      continue;
    }
    Error error = std::move(done.error().error);
    if (taken) error.what = "there is a message of one of these ids already";
    return std::vector<Result<Sent>>(sends.size(), std::unexpected(error));
  }
}

DatabaseResult<std::vector<Charged>> Quotas::charge_once(std::span<const Charge> charges,
                                                         std::optional<Instant> now,
                                                         const runtime::Deadline& deadline) {
  std::vector<std::int32_t> users;
  std::vector<std::int64_t> costs;
  for (const Charge& charge : charges) {
    users.push_back(charge.user.raw);
    costs.push_back(charge.cost);
  }
  const Call call{.sql = statement("gateway_charge"),
                  .params = Params().int4s(users).int8s(costs).int8(epoch_us(now))};
  const auto rows = run_calls(pool_, {&call, 1}, deadline);
  if (!rows) return std::unexpected(rows.error());
  const std::vector<std::int64_t> results = rows->front().integers(0, 0);
  const std::vector<std::int64_t> windows = rows->front().integers(0, 1);
  const std::vector<std::int64_t> waits = rows->front().integers(0, 2);
  std::vector<Charged> answers;
  answers.reserve(charges.size());
  if (results.size() != charges.size() || windows.size() != charges.size() ||
      waits.size() != charges.size()) {
    return std::unexpected(
        DatabaseError{.error = {.kind = ErrorKind::corrupt,
                                .what = "postgres: gateway_charge answers for other charges"}});
  }
  for (std::size_t i = 0; i < charges.size(); ++i) {
    answers.push_back({.result = static_cast<ChargeResult>(results[i]),
                       .window = windows[i],
                       .retry_after = Micros{waits[i]}});
  }
  return answers;
}

std::vector<Result<Charged>> Quotas::charge(std::span<const Charge> charges,
                                            std::optional<Instant> now) {
  if (charges.empty()) return {};
  const runtime::Deadline deadline(deadline_);
  for (int tried = 1;; ++tried) {
    auto done = charge_once(charges, now, deadline);
    if (done) return {done->begin(), done->end()};
    if (worth_repeating(done.error()) && tried < kAttempts && !deadline.passed()) continue;
    return std::vector<Result<Charged>>(charges.size(), std::unexpected(done.error().error));
  }
}

Result<void> Quotas::give_back(std::span<const GiveBack> charges) {
  if (charges.empty()) return {};
  std::vector<std::int32_t> users;
  std::vector<std::int64_t> costs;
  std::vector<std::int64_t> windows;
  for (const GiveBack& charge : charges) {
    users.push_back(charge.user.raw);
    costs.push_back(charge.cost);
    windows.push_back(charge.window);
  }
  const Call call{.sql = statement("give_back_charges"),
                  .params = Params().int4s(users).int8s(costs).int8s(windows)};
  const auto rows = run_call(pool_, call, runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return {};
}

Result<void> Quotas::record(std::span<const UsageDelta> deltas) {
  if (deltas.empty()) return {};
  std::map<std::pair<UserId, Instant>, UsageCounts> minutes;
  for (const UsageDelta& delta : deltas) {
    minutes[{delta.user, minute_of(delta.minute)}] += delta.counts;
  }
  std::vector<std::int32_t> users;
  std::vector<std::int64_t> minutes_us;
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> limited;
  std::vector<std::int64_t> failed;
  for (const auto& [place, counts] : minutes) {
    users.push_back(place.first.raw);
    minutes_us.push_back(epoch_us(place.second));
    sent.push_back(counts.sent);
    limited.push_back(counts.limited);
    failed.push_back(counts.failed);
  }
  Params params;
  params.int4s(users).int8s(minutes_us).int8s(sent).int8s(limited).int8s(failed);
  const auto rows = run_call(pool_, {.sql = statement("record_usage"), .params = std::move(params)},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return {};
}

Result<std::vector<UsagePoint>> Quotas::usage(UserId user, Instant from, Instant to,
                                              std::size_t limit) {
  const auto rows = run_call(pool_,
                             {.sql = statement("gateway_usage"),
                              .params = Params()
                                            .int4(user.raw)
                                            .int8(epoch_us(minute_of(from)))
                                            .int8(epoch_us(to))
                                            .int8(int8_of(limit))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  std::vector<UsagePoint> points;
  points.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) {
    points.push_back({.minute = from_epoch_us(rows->int8(row, 0)),
                      .counts = {.sent = rows->int8(row, 1),
                                 .limited = rows->int8(row, 2),
                                 .failed = rows->int8(row, 3)}});
  }
  return points;
}

Result<std::vector<LimitedUser>> Quotas::top_limited(Instant from, Instant to, std::size_t limit) {
  const auto rows = run_call(
      pool_,
      {.sql = statement("top_limited"),
       .params = Params().int8(epoch_us(minute_of(from))).int8(epoch_us(to)).int8(int8_of(limit))},
      runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  std::vector<LimitedUser> users;
  users.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) {
    users.push_back({.user = UserId{rows->int4(row, 0)}, .limited = rows->int8(row, 1)});
  }
  return users;
}

Result<QuotaSweep> Quotas::forget(Instant keys_before, Instant usage_before, std::size_t limit) {
  const auto step = [&](std::string_view name, Instant before) {
    return Call{.sql = statement(name),
                .params = Params().int8(epoch_us(before)).int8(int8_of(limit))};
  };
  const Call calls[] = {step("forget_keys", keys_before), step("forget_claims", keys_before),
                        step("forget_usage", usage_before)};
  const auto rows = run_calls(pool_, calls, runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error().error);
  const auto keys = static_cast<std::size_t>(rows->front().int8(0, 0));
  const auto claims = static_cast<std::size_t>((*rows)[1].int8(0, 0));
  const auto minutes = static_cast<std::size_t>(rows->back().int8(0, 0));
  return QuotaSweep{.gone = keys + claims + minutes,
                    .more = keys >= limit || claims >= limit || minutes >= limit};
}

}  // namespace penstock::store::postgres
