#include "store/quota/postgres/deliveries.h"

#include <map>
#include <string_view>
#include <utility>

#include "engine/postgres/calls.h"

namespace penstock::store::postgres {

// A name twice in one call: the last part and, as core::replaces() says, the report that stands.
// The map is in the order in which rows are locked.
Result<void> Deliveries::note_taken(std::span<const TakenPart> parts, std::optional<Instant> now) {
  if (parts.empty()) return {};
  std::map<PartName, const TakenPart*> rows;
  for (const TakenPart& part : parts) rows.insert_or_assign(part.name, &part);
  std::vector<std::string_view> providers;
  std::vector<std::string_view> references;
  std::vector<std::string_view> messages;
  std::vector<std::int32_t> numbers;
  std::vector<std::int32_t> counts;
  for (const auto& [name, part] : rows) {
    providers.emplace_back(name.provider);
    references.emplace_back(name.reference);
    messages.emplace_back(part->message.str());
    numbers.push_back(part->part);
    counts.push_back(part->parts);
  }
  Params params;
  params.texts(providers)
      .texts(references)
      .texts(messages)
      .int4s(numbers)
      .int4s(counts)
      .int8(epoch_us(now));
  const auto done = run_call(pool_, {.sql = statement("note_taken"), .params = std::move(params)},
                             runtime::Deadline(deadline_));
  if (!done) return std::unexpected(done.error());
  return {};
}

Result<std::vector<bool>> Deliveries::note_reports(std::span<const PartReport> reports,
                                                   std::optional<Instant> now) {
  if (reports.empty()) return std::vector<bool>();
  std::map<PartName, const PartReport*> rows;
  for (const PartReport& report : reports) {
    const auto [found, added] = rows.try_emplace(report.name, &report);
    if (!added && core::replaces(report.state, found->second->state)) found->second = &report;
  }
  std::vector<std::string_view> providers;
  std::vector<std::string_view> references;
  std::vector<std::int32_t> states;
  std::vector<std::string_view> details;
  for (const auto& [name, report] : rows) {
    providers.emplace_back(name.provider);
    references.emplace_back(name.reference);
    states.push_back(static_cast<std::int32_t>(report->state));
    details.emplace_back(report->detail);
  }
  Params params;
  params.texts(providers).texts(references).int4s(states).texts(details).int8(epoch_us(now));
  const auto done = run_call(pool_, {.sql = statement("note_reports"), .params = std::move(params)},
                             runtime::Deadline(deadline_));
  if (!done) return std::unexpected(done.error());
  std::map<PartName, bool> known;
  for (int row = 0; row < done->size(); ++row) {
    known.emplace(PartName{.provider = std::string(done->text(row, 0)),
                           .reference = std::string(done->text(row, 1))},
                  done->boolean(row, 2));
  }
  std::vector<bool> answers;
  answers.reserve(reports.size());
  for (const PartReport& report : reports) answers.push_back(known[report.name]);
  return answers;
}

Result<std::vector<core::DeliveryPart>> Deliveries::find_parts(const ItemId& message) {
  const auto rows =
      run_call(pool_, {.sql = statement("find_parts"), .params = Params().text(message.str())},
               runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  std::vector<core::DeliveryPart> parts;
  for (int row = 0; row < rows->size(); ++row) {
    const std::int32_t state = rows->int4(row, 2);
    if (state < 0 || state > static_cast<std::int32_t>(core::kDeliveryStateMax)) {
      return fail(ErrorKind::corrupt, "postgres: sms_part has an unknown state");
    }
    core::DeliveryPart part{.part = rows->int4(row, 0),
                            .parts = rows->int4(row, 1),
                            .state = static_cast<core::DeliveryState>(state),
                            .at = {},
                            .detail = std::string(rows->text(row, 4))};
    if (part.state != core::DeliveryState::pending) part.at = from_epoch_us(rows->int8(row, 3));
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<std::size_t> Deliveries::forget_parts(Instant before, std::size_t limit) {
  const auto rows = run_call(pool_,
                             {.sql = statement("forget_parts"),
                              .params = Params().int8(epoch_us(before)).int8(int8_of(limit))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return static_cast<std::size_t>(rows->int8(0, 0));
}

}  // namespace penstock::store::postgres
