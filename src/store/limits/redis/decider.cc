#include "store/limits/redis/decider.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <thread>
#include <utility>

#include "core/limits/decide.h"
#include "store/limits/batch_states.h"
#include "store/limits/redis/plan.h"
#include "store/limits/redis/value.h"

namespace penstock::store::redis {
namespace {

constexpr int kAttemptsMax = 100;  // each fails only because another node's succeeded

Millis expiry(Instant idle_at, Instant now, Millis grace) {
  return std::max(std::chrono::ceil<Millis>(idle_at - now), Millis{0}) + grace;
}

}  // namespace

void Decider::run(std::span<Part> parts, std::optional<Instant> now,
                  const runtime::Deadline& deadline) {
  std::vector<std::size_t> pending(parts.size());
  std::iota(pending.begin(), pending.end(), std::size_t{0});
  while (!pending.empty()) {
    Plan plan = plan_calls(parts, pending,
                           {.prefix = prefix_,
                            .by_slot = client_.cluster(),
                            .all_here = now && now->time_since_epoch().count() > 2 * kExactMax});
    by_script(parts, plan, now, deadline, plan.here);
    std::ranges::sort(plan.here);
    by_core(parts, plan.here, now, deadline);
    pending = std::move(plan.later);
  }
}

void Decider::by_script(std::span<Part> parts, const Plan& plan, std::optional<Instant> now,
                        const runtime::Deadline& deadline, std::vector<std::size_t>& back) {
  if (plan.calls.empty()) return;
  std::vector<Command> commands;
  commands.reserve(plan.calls.size());
  for (const ScriptCall& call : plan.calls) {
    commands.push_back(
        call.command({.prefix = prefix_, .now = now, .grace = now ? kGraceGiven : kGrace}));
  }
  const std::vector<Result<Reply>> replies = client_.run(commands, deadline);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const Result<void> read = replies[i] ? plan.calls[i].read(replies[i]->top().text, parts, back)
                                         : Result<void>(std::unexpected(replies[i].error()));
    if (read) continue;
    for (const std::size_t index : plan.calls[i].parts()) {
      parts[index].admitted = std::unexpected(read.error());
    }
  }
}

// The unusual cases: a key whose state was made for another limit, numbers beyond doubles, a full
// log. Read, decide by the core, write if nobody else did meanwhile, else again.

// Parts that hang together by their keys: decided together, written together.
struct Decider::Unit {
  std::vector<std::size_t> parts;  // ascending
  std::vector<LimitRequest> requests;
  std::vector<std::string> names;   // of the keys in the order of BatchStates
  std::vector<std::string> values;  // as they were read; empty = none
  Instant now{};
  Millis grace{0};
  std::optional<Error> error;
  bool done = false;

  // Both fill the parts, and say what limits_swap is to write, if anything.
  void decide(std::span<Part> all, std::vector<std::string>& swap_arguments);
  void try_only(std::span<Part> all, std::vector<std::string>& swap_arguments);
  bool try_check(Part& part, std::size_t i, LimitRecord& record) const;
  void write_changes(std::span<const Result<LimitRecord>> records, const std::vector<bool>& changed,
                     std::vector<std::string>& swap_arguments) const;
};

std::vector<Decider::Unit> Decider::units_of(std::span<const Part> parts,
                                             std::span<const std::size_t> indexes) {
  std::map<std::string_view, std::size_t> unit_of;  // by key
  std::vector<Unit> units;
  for (const std::size_t index : indexes) {
    std::size_t unit = units.size();
    units.emplace_back();
    for (const LimitCheck& check : parts[index].checks) {
      const auto [known, fresh] = unit_of.try_emplace(check.key, unit);
      if (fresh || known->second == unit) continue;
      // The unit that has the key swallows this one.
      const std::size_t into = known->second;
      std::ranges::copy(units[unit].parts, std::back_inserter(units[into].parts));
      units[unit].parts.clear();
      for (auto& [key, place] : unit_of) {
        if (place == unit) place = into;
      }
      unit = into;
    }
    units[unit].parts.push_back(index);
  }
  std::erase_if(units, [](const Unit& unit) { return unit.parts.empty(); });
  for (Unit& unit : units) {
    std::ranges::sort(unit.parts);
    for (const std::size_t index : unit.parts) {
      const Part& part = parts[index];
      unit.requests.push_back(
          {.checks = part.checks, .cost = part.cost, .statuses = part.statuses});
    }
    const BatchStates states(unit.requests);
    for (const std::string_view key : states.keys()) unit.names.push_back(name_of(key));
  }
  return units;
}

void Decider::by_core(std::span<Part> parts, std::span<const std::size_t> indexes,
                      std::optional<Instant> now, const runtime::Deadline& deadline) {
  if (indexes.empty()) return;
  std::vector<Unit> units = units_of(parts, indexes);
  for (int attempt = 0; !units.empty(); ++attempt) {
    if (attempt == kAttemptsMax || deadline.passed()) {
      for (const Unit& unit : units) {
        for (const std::size_t index : unit.parts) {
          parts[index].admitted =
              fail(ErrorKind::timeout, "redis: the key changed too often before the deadline");
        }
      }
      return;
    }
    read_all(units, now, deadline);
    swap_all(units, parts, deadline);
    std::erase_if(units, [](const Unit& unit) { return unit.done; });
  }
}

bool Decider::read_all(std::span<Unit> units, std::optional<Instant> now,
                       const runtime::Deadline& deadline) {
  std::vector<Command> commands;
  for (const Unit& unit : units) {
    const std::vector<std::string_view> names(unit.names.begin(), unit.names.end());
    commands.push_back(call_of(script("limits_read"), names, {}));
  }
  const std::vector<Result<Reply>> replies = client_.run(commands, deadline);
  for (std::size_t i = 0; i < units.size(); ++i) {
    Unit& unit = units[i];
    if (!replies[i]) {
      unit.error = replies[i].error();
      continue;
    }
    const auto values = replies[i]->flat();
    std::int64_t micros = 0;
    if (values.size() != unit.names.size() + 1 ||
        std::from_chars(values[0].text.data(), values[0].text.data() + values[0].text.size(),
                        micros)
                .ec != std::errc{}) {
      unit.error = Error{.kind = ErrorKind::corrupt, .what = "redis: the script's answer is odd"};
      continue;
    }
    unit.now = now.value_or(Instant{Micros{micros}});
    unit.grace = now ? kGraceGiven : kGrace;
    unit.values.clear();
    for (const wire::RespValue& value : values.subspan(1)) unit.values.emplace_back(value.text);
  }
  return true;
}

void Decider::swap_all(std::span<Unit> units, std::span<Part> parts,
                       const runtime::Deadline& deadline) {
  std::vector<Command> commands;
  std::vector<Unit*> swapped;
  for (Unit& unit : units) {
    std::vector<std::string> arguments;
    if (!unit.error) unit.decide(parts, arguments);
    if (unit.error || arguments.empty()) {
      unit.done = true;
      continue;
    }
    const std::vector<std::string_view> names(unit.names.begin(), unit.names.end());
    const std::vector<std::string_view> words(arguments.begin(), arguments.end());
    commands.push_back(call_of(script("limits_swap"), names, words));
    swapped.push_back(&unit);
  }
  const std::vector<Result<Reply>> replies = client_.run(commands, deadline);
  for (std::size_t i = 0; i < swapped.size(); ++i) {
    if (!replies[i]) {
      swapped[i]->error = replies[i].error();
      swapped[i]->done = true;
    } else {
      swapped[i]->done = replies[i]->top().integer == 1;
    }
  }
  for (const Unit& unit : units) {
    if (!unit.error) continue;
    for (const std::size_t index : unit.parts) parts[index].admitted = std::unexpected(*unit.error);
  }
}

void Decider::Unit::decide(std::span<Part> all, std::vector<std::string>& swap_arguments) {
  if (all[parts.front()].tried) return try_only(all, swap_arguments);
  BatchStates states(requests);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty()) continue;
    const Result<LimitRecord> record = decode_value(values[i]);
    // No bytes at all are no record either: the requests that need the key fail as corrupt.
    states.load(i, record ? encode_record(*record) : std::string());
  }
  std::vector<Result<LimitAnswer>> answers(requests.size(), LimitAnswer{});
  states.decide(now, answers);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (answers[i]) {
      all[parts[i]].admitted = answers[i]->admitted;
    } else {
      all[parts[i]].admitted = std::unexpected(answers[i].error());
    }
  }
  std::vector<Result<LimitRecord>> records(values.size(), LimitRecord{});
  std::vector<bool> changed(values.size(), false);
  for (const BatchStates::Change& change : states.changes()) {
    records[change.key] = decode_record(change.record);
    if (!records[change.key]) {
      error = records[change.key].error();
      return;
    }
    changed[change.key] = true;
  }
  write_changes(records, changed, swap_arguments);
}

// As the script answers parts that are tried: whoever admits says how things stand. As in a
// decision the states become the limits' own, so that what a denial promises holds.
void Decider::Unit::try_only(std::span<Part> all, std::vector<std::string>& swap_arguments) {
  const BatchStates states(requests);
  std::vector<Result<LimitRecord>> records;
  records.reserve(values.size());
  for (const std::string& value : values) {
    records.push_back(value.empty() ? LimitRecord{} : decode_value(value));
  }
  std::vector<bool> changed(records.size(), false);
  for (const std::size_t index : parts) {
    Part& part = all[index];
    part.admitted = true;
    for (std::size_t i = 0; i < part.checks.size(); ++i) {
      const auto place = std::ranges::lower_bound(states.keys(), part.checks[i].key);
      const auto key = static_cast<std::size_t>(place - states.keys().begin());
      if (!records[key]) {
        part.admitted = std::unexpected(records[key].error());
        break;
      }
      changed[key] = try_check(part, i, *records[key]) || changed[key];
    }
  }
  write_changes(records, changed, swap_arguments);
}

// Whether the record has become another limit's.
bool Decider::Unit::try_check(Part& part, std::size_t i, LimitRecord& record) const {
  const LimitCheck& check = part.checks[i];
  const bool adopted = !core::made_for(record.state, check.limit);
  core::adopt(check.limit, record.state, now);
  if (adopted) record.capacity = check.limit.capacity;
  core::LimitStatus& status = part.statuses[i];
  status = core::evaluate(check.limit, record.state, part.cost, now);
  if (status.admitted) {
    status = core::evaluate(check.limit, record.state, 0, now);
  } else if (!check.shadow) {
    part.admitted = false;
  }
  return adopted;
}

void Decider::Unit::write_changes(std::span<const Result<LimitRecord>> records,
                                  const std::vector<bool>& changed,
                                  std::vector<std::string>& swap_arguments) const {
  bool any = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    swap_arguments.push_back(values[i]);
    swap_arguments.insert(swap_arguments.end(), {"", "0"});
    // A fresh state that was denied says no more than none.
    if (!changed[i] || records[i]->state.last == 0) continue;
    swap_arguments[3 * i + 1] = encode_value(*records[i]);
    swap_arguments[3 * i + 2] =
        std::to_string(expiry(core::idle_at(records[i]->state), now, grace).count());
    any = true;
  }
  if (!any) swap_arguments.clear();
}

}  // namespace penstock::store::redis
