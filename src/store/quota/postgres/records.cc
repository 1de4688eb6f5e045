// What was sent: attempts by users, usage that is handed on, what providers say of messages.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "store/quota/postgres/quotas.h"

namespace penstock::store::postgres {
namespace {

class Attempts final : public AttemptStore {
 public:
  explicit Attempts(Database database) : database_(database) {}

  Result<void> append(std::span<const Attempt> attempts) override {
    if (attempts.empty()) return {};
    return database_.tell(
        "append_attempts", column(attempts, [](const Attempt& each) { return each.mark.at; }),
        column(attempts, [](const Attempt& each) { return each.mark.number; }),
        column(attempts, [](const Attempt& each) { return each.user.raw; }),
        column(attempts,
               [](const Attempt& each) { return static_cast<std::int32_t>(each.outcome); }),
        column(attempts, &Attempt::message), Bytes{column(attempts, &Attempt::text)});
  }

  Result<std::vector<Attempt>> page(Instant from, Instant to, std::optional<AttemptMark> after,
                                    std::size_t limit) override {
    // Behind the last of the microsecond before: there is none of a negative number.
    AttemptMark mark{.at = from, .number = -1};
    if (after) mark = std::max(mark, *after);
    const Rows rows = PENSTOCK_TRY(database_.ask("attempt_page", mark.at, mark.number, to, limit));
    return rows.map([](auto row) {
      return Attempt{.mark = {.at = row[0], .number = row[1]},
                     .user = core::UserId{row[2]},
                     .outcome = row[3],
                     .message = ItemId::trusted(row[4]),
                     .text = row[5]};
    });
  }

  Result<std::size_t> forget_attempts(Instant before, std::size_t limit) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("forget_attempts", before, limit));
    return rows[0][0].as<std::size_t>();
  }

 private:
  Database database_;
};

class UsageExportRows final : public UsageExport {
 public:
  explicit UsageExportRows(Database database) : database_(database) {}

  Result<std::vector<UserMinute>> page(Instant from, Instant to, std::optional<UsageMark> after,
                                       std::size_t limit) override {
    // Behind the last user of the minute before: there is none of a negative number.
    UsageMark mark{.minute = minute_of(from), .user = UserId{-1}};
    if (after) mark = std::max(mark, *after);
    const Rows rows =
        PENSTOCK_TRY(database_.ask("usage_page", mark.minute, mark.user.raw, to, limit));
    return rows.map([](auto row) {
      return UserMinute{.user = UserId{row[1]},
                        .minute = row[0],
                        .counts = {.sent = row[2], .limited = row[3], .failed = row[4]}};
    });
  }

  Result<Turn> take_turn(std::string_view name, std::string_view node, Millis term,
                         std::optional<Instant> now) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("take_export_turn", name, node, term, now));
    if (rows.empty()) return Turn{};
    return Turn{.mine = true, .done_to = rows[0][0].maybe<Instant>()};
  }

  Result<bool> set_done_to(std::string_view name, std::string_view node, Instant done_to) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("set_export_done", name, node, done_to));
    return !rows.empty();
  }

 private:
  Database database_;
};

class Deliveries final : public DeliveryStore {
 public:
  explicit Deliveries(Database database) : database_(database) {}

  // A name twice in one call: the last part and, as core::replaces() says, the report that stands.
  // The map is in the order in which rows are locked.
  Result<void> note_taken(std::span<const TakenPart> parts, std::optional<Instant> now) override {
    if (parts.empty()) return {};
    std::map<PartName, const TakenPart*> rows;
    for (const TakenPart& part : parts) rows.insert_or_assign(part.name, &part);
    return database_.tell(
        "note_taken", column(rows, kProvider), column(rows, kReference),
        column(rows, [](const auto& row) -> const ItemId& { return row.second->message; }),
        column(rows, [](const auto& row) { return std::int32_t{row.second->part}; }),
        column(rows, [](const auto& row) { return std::int32_t{row.second->parts}; }), now);
  }

  Result<std::vector<bool>> note_reports(std::span<const PartReport> reports,
                                         std::optional<Instant> now) override {
    if (reports.empty()) return std::vector<bool>();
    std::map<PartName, const PartReport*> rows;
    for (const PartReport& report : reports) {
      const auto [found, added] = rows.try_emplace(report.name, &report);
      if (!added && core::replaces(report.state, found->second->state)) found->second = &report;
    }
    const Rows done = PENSTOCK_TRY(database_.ask(
        "note_reports", column(rows, kProvider), column(rows, kReference),
        column(rows, [](const auto& row) { return static_cast<std::int32_t>(row.second->state); }),
        column(rows, [](const auto& row) -> const std::string& { return row.second->detail; }),
        now));
    std::map<PartName, bool> known;
    for (const auto row : done) {
      known.emplace(PartName{.provider = row[0], .reference = row[1]}, row[2].as<bool>());
    }
    std::vector<bool> answers;
    for (const PartReport& report : reports) answers.push_back(known[report.name]);
    return answers;
  }

  Result<std::vector<core::DeliveryPart>> find_parts(const ItemId& message) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("find_parts", message));
    std::vector<core::DeliveryPart> parts;
    for (const auto row : rows) {
      const std::int32_t state = row[2];
      if (state < 0 || state > static_cast<std::int32_t>(core::kDeliveryStateMax)) {
        return fail(ErrorKind::corrupt, "postgres: sms_part has an unknown state");
      }
      core::DeliveryPart part{
          .part = row[0], .parts = row[1], .state = row[2], .at = {}, .detail = row[4]};
      if (part.state != core::DeliveryState::pending) part.at = row[3].as<Instant>();
      parts.push_back(std::move(part));
    }
    return parts;
  }

  Result<std::size_t> forget_parts(Instant before, std::size_t limit) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("forget_parts", before, limit));
    return rows[0][0].as<std::size_t>();
  }

 private:
  static constexpr auto kProvider = [](const auto& row) -> const std::string& {
    return row.first.provider;
  };
  static constexpr auto kReference = [](const auto& row) -> const std::string& {
    return row.first.reference;
  };

  Database database_;
};

}  // namespace

std::unique_ptr<AttemptStore> make_attempts(Database database) {
  return std::make_unique<Attempts>(database);
}

std::unique_ptr<UsageExport> make_usage_export(Database database) {
  return std::make_unique<UsageExportRows>(database);
}

std::unique_ptr<DeliveryStore> make_deliveries(Database database) {
  return std::make_unique<Deliveries>(database);
}

}  // namespace penstock::store::postgres
