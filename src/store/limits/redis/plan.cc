#include "store/limits/redis/plan.h"

#include <algorithm>
#include <limits>
#include <string>

#include "engine/redis/slots.h"
#include "store/limits/redis/value.h"
#include "wire/resp_writer.h"

namespace penstock::store::redis {
namespace {

constexpr std::size_t kHere = static_cast<std::size_t>(-1);
constexpr std::size_t kLater = static_cast<std::size_t>(-2);
constexpr std::size_t kNoCall = static_cast<std::size_t>(-3);

class Planner {
 public:
  explicit Planner(const PlanOptions& options) : options_(options) {}

  void add(const Part& part, std::size_t index) {
    const Target target = target_of(part);
    if (target.call == kLater || target.call == kHere) return set_aside(part, index, target.call);
    std::size_t call = target.call;
    if (call == kNoCall) {
      call = open_call(part);
    } else if (!plan_.calls[call].has_room_for(part, target.new_keys)) {
      return set_aside(part, index, kLater);
    }
    refs_.clear();
    for (const LimitCheck& check : part.checks) {
      const auto [place, fresh] = places_.try_emplace(check.key);
      if (fresh) {
        const bool log = check.limit.type == core::LimitType::sliding_window;
        place->second = {.call = call, .key = plan_.calls[call].add_key(check.key, log)};
      }
      refs_.push_back(place->second.key);
    }
    plan_.calls[call].add(part, index, refs_);
  }

  void expect(std::size_t parts) { places_.reserve(parts); }
  Plan take() { return std::move(plan_); }

 private:
  struct Place {
    std::size_t call = kNoCall;
    KeyRef key;
  };
  struct Target {
    std::size_t call = kNoCall;
    std::size_t new_keys = 0;
  };

  // The call that holds keys of the part already.
  Target target_of(const Part& part) const {
    Target target;
    bool here = options_.all_here || !ScriptCall::could_take(part);
    for (const LimitCheck& check : part.checks) {
      const auto place = places_.find(check.key);
      if (place == places_.end()) {
        ++target.new_keys;
        continue;
      }
      const std::size_t call = place->second.call;
      if (call == kLater) return {.call = kLater};
      if (call == kHere) {
        here = true;
      } else if (target.call == kNoCall) {
        target.call = call;
      } else if (target.call != call) {
        target.call = kLater;
      }
    }
    // What the core decides waits for all calls anyhow.
    if (here) return {.call = kHere};
    return target;
  }

  std::size_t open_call(const Part& part) {
    const std::size_t slot =
        options_.by_slot ? slot_of(std::string(options_.prefix) + std::string(part.checks[0].key))
                         : 0;
    const auto [open, fresh] = open_.try_emplace(slot, plan_.calls.size());
    if (!fresh && plan_.calls[open->second].has_room_for(part, part.checks.size())) {
      return open->second;
    }
    plan_.calls.emplace_back();
    return open->second = plan_.calls.size() - 1;
  }

  void set_aside(const Part& part, std::size_t index, std::size_t where) {
    for (const LimitCheck& check : part.checks) places_[check.key].call = where;
    (where == kHere ? plan_.here : plan_.later).push_back(index);
  }

  const PlanOptions& options_;
  Plan plan_;
  std::unordered_map<std::string_view, Place> places_;
  std::unordered_map<std::size_t, std::size_t> open_;  // by slot, the call that takes new keys
  std::vector<KeyRef> refs_;
};

constexpr std::size_t kHeadNumbers = 5;
constexpr std::size_t kLimitNumbers = 5;
constexpr std::size_t kRequestNumbers = 3;
constexpr std::size_t kCheckNumbers = 2;
constexpr std::size_t kAnswerNumbers = 4;  // for each check
constexpr double kHandedBack = 2;

// Beyond these a cost means the same: never admitted, everything given back.
std::int64_t bounded(std::int64_t cost) {
  return std::clamp(cost, -core::kCapacityMax, core::kCapacityMax + 1);
}

std::size_t numbers_of(std::size_t limits, std::size_t requests, std::size_t checks) {
  const std::size_t in =
      kHeadNumbers + kLimitNumbers * limits + kRequestNumbers * requests + kCheckNumbers * checks;
  const std::size_t out = 1 + requests + kAnswerNumbers * checks;
  return std::max(in, out);
}

void put_name(std::string_view prefix, std::string_view key, std::string& out) {
  out += '$';
  out += std::to_string(prefix.size() + key.size());
  out += "\r\n";
  out += prefix;
  out += key;
  out += "\r\n";
}

}  // namespace

Plan plan_calls(std::span<const Part> parts, std::span<const std::size_t> pending,
                const PlanOptions& options) {
  Planner planner(options);
  planner.expect(pending.size());
  for (const std::size_t index : pending) planner.add(parts[index], index);
  return planner.take();
}

bool ScriptCall::could_take(const Part& part) noexcept {
  return part.checks.size() <= kKeysMax &&
         std::ranges::all_of(part.checks,
                             [](const LimitCheck& check) { return fits_script(check.limit); });
}

std::size_t ScriptCall::numbers() const noexcept {
  return numbers_of(limits_.size(), requests_.size(), checks_.size());
}

bool ScriptCall::has_room_for(const Part& part, std::size_t new_keys) const noexcept {
  // Each check might bring a limit of its own.
  return small_keys_.size() + log_keys_.size() + new_keys <= kKeysMax &&
         requests_.size() < kPartsMax &&
         numbers_of(limits_.size() + part.checks.size(), requests_.size() + 1,
                    checks_.size() + part.checks.size()) <= kNumbersMax;
}

KeyRef ScriptCall::add_key(std::string_view key, bool log) {
  std::vector<std::string_view>& keys = log ? log_keys_ : small_keys_;
  keys.push_back(key);
  return {.index = static_cast<std::uint32_t>(keys.size() - 1), .log = log};
}

std::int32_t ScriptCall::limit_number(const core::Limit& limit) {
  // A batch has few limits; the last one is the likeliest.
  for (std::size_t i = limits_.size(); i > 0; --i) {
    if (limits_[i - 1] == limit) return static_cast<std::int32_t>(i);
  }
  limits_.push_back(limit);
  return static_cast<std::int32_t>(limits_.size());
}

void ScriptCall::add(const Part& part, std::size_t index, std::span<const KeyRef> keys) {
  indexes_.push_back(index);
  requests_.push_back({.cost = part.cost, .tried = part.tried, .checks = part.checks.size()});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::int32_t limit = limit_number(part.checks[i].limit);
    checks_.push_back({.key = keys[i], .limit = part.checks[i].shadow ? -limit : limit});
  }
}

Command ScriptCall::command(const CallOptions& options) const {
  std::string packed;
  packed.reserve(8 * numbers());
  put_whole(options.now ? options.now->time_since_epoch().count() : -1, packed);
  put_whole(options.grace.count(), packed);
  put_whole(static_cast<std::int64_t>(small_keys_.size()), packed);
  put_whole(static_cast<std::int64_t>(limits_.size()), packed);
  put_whole(static_cast<std::int64_t>(requests_.size()), packed);
  for (const core::Limit& limit : limits_) {
    put_whole(static_cast<std::int64_t>(limit.type), packed);
    put_whole(limit.capacity, packed);
    put_whole(Micros{limit.window}.count(), packed);
    put_whole(core::is_bucket(limit.type) ? limit.refill.tokens : 0, packed);
    put_whole(core::is_bucket(limit.type) ? limit.refill.micros : 1, packed);
  }
  auto check = checks_.begin();
  for (const Request& request : requests_) {
    put_whole(bounded(request.cost), packed);
    put_whole(request.tried ? 1 : 0, packed);
    put_whole(static_cast<std::int64_t>(request.checks), packed);
    for (std::size_t i = 0; i < request.checks; ++i, ++check) {
      put_whole(1 + check->key.index + (check->key.log ? small_keys_.size() : 0), packed);
      put_whole(check->limit, packed);
    }
  }
  static const Script& kScript = script("limits");
  Command command{.script = &kScript};
  std::string& out = command.request;
  const std::size_t keys = small_keys_.size() + log_keys_.size();
  out.reserve(packed.size() + 64 * keys + 128);
  wire::RespWriter writer(out, wire::RespVersion::v2);
  writer.array(4 + keys).bulk("EVALSHA").bulk(kScript.digest).bulk(std::to_string(keys));
  for (const std::string_view key : small_keys_) put_name(options.prefix, key, out);
  for (const std::string_view key : log_keys_) put_name(options.prefix, key, out);
  writer.bulk(packed);
  const std::string_view any = small_keys_.empty() ? log_keys_.front() : small_keys_.front();
  command.slot = slot_of(std::string(options.prefix) + std::string(any));
  return command;
}

Result<void> ScriptCall::read(std::string_view answer, std::span<Part> parts,
                              std::vector<std::size_t>& back) const {
  const auto wrong = [] { return fail(ErrorKind::corrupt, "redis: the script's answer is odd"); };
  const auto whole = [&] { return Micros{static_cast<std::int64_t>(take_double(answer))}; };
  if (answer.size() % 8 != 0 || answer.empty()) return wrong();
  take_double(answer);  // its clock
  for (const std::size_t index : indexes_) {
    Part& part = parts[index];
    if (answer.empty()) return wrong();
    const double code = take_double(answer);
    if (code == kHandedBack) {
      back.push_back(index);
      continue;
    }
    if (answer.size() < 8 * kAnswerNumbers * part.checks.size()) return wrong();
    for (std::size_t i = 0; i < part.checks.size(); ++i) {
      core::LimitStatus& status = part.statuses[i];
      status.admitted = take_double(answer) == 1;
      status.limit = part.checks[i].limit.capacity;
      status.remaining = whole().count();
      status.retry_after = whole();
      status.reset_after = whole();
    }
    part.admitted = code == 1;
  }
  if (!answer.empty()) return wrong();
  return {};
}

}  // namespace penstock::store::redis
