#include "store/quota/postgres/attempts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/postgres/calls.h"

namespace penstock::store::postgres {

Result<void> AttemptRows::append(std::span<const Attempt> attempts) {
  if (attempts.empty()) return {};
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> numbers;
  std::vector<std::int32_t> users;
  std::vector<std::int32_t> outcomes;
  std::vector<std::string_view> messages;
  std::vector<std::string_view> texts;
  for (const Attempt& attempt : attempts) {
    times.push_back(epoch_us(attempt.mark.at));
    numbers.push_back(attempt.mark.number);
    users.push_back(attempt.user.raw);
    outcomes.push_back(static_cast<std::int32_t>(attempt.outcome));
    messages.push_back(attempt.message.str());
    texts.push_back(attempt.text);
  }
  const auto rows = run_call(
      pool_,
      {.sql = statement("append_attempts"),
       .params =
           Params().int8s(times).int8s(numbers).int4s(users).int4s(outcomes).texts(messages).byteas(
               texts)},
      runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return {};
}

Result<std::vector<Attempt>> AttemptRows::page(Instant from, Instant to,
                                               std::optional<AttemptMark> after,
                                               std::size_t limit) {
  // Behind the last of the microsecond before: there is none of a negative number.
  AttemptMark mark{.at = from, .number = -1};
  if (after) mark = std::max(mark, *after);
  const auto rows = run_call(pool_,
                             {.sql = statement("attempt_page"),
                              .params = Params()
                                            .int8(epoch_us(mark.at))
                                            .int8(mark.number)
                                            .int8(epoch_us(to))
                                            .int8(int8_of(limit))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  std::vector<Attempt> out;
  out.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) {
    out.push_back({.mark = {.at = from_epoch_us(rows->int8(row, 0)), .number = rows->int8(row, 1)},
                   .user = core::UserId{rows->int4(row, 2)},
                   .outcome = static_cast<AttemptOutcome>(rows->int4(row, 3)),
                   .message = ItemId::trusted(std::string(rows->text(row, 4))),
                   .text = std::string(rows->text(row, 5))});
  }
  return out;
}

Result<std::size_t> AttemptRows::forget_attempts(Instant before, std::size_t limit) {
  const auto rows = run_call(pool_,
                             {.sql = statement("forget_attempts"),
                              .params = Params().int8(epoch_us(before)).int8(int8_of(limit))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return static_cast<std::size_t>(rows->int8(0, 0));
}

}  // namespace penstock::store::postgres
