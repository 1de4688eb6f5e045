#include "store/limits/redis/plan.h"

#include <string>

#include "engine/redis/slot.h"

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

}  // namespace

Plan plan_calls(std::span<const Part> parts, std::span<const std::size_t> pending,
                const PlanOptions& options) {
  Planner planner(options);
  planner.expect(pending.size());
  for (const std::size_t index : pending) planner.add(parts[index], index);
  return planner.take();
}

}  // namespace penstock::store::redis
