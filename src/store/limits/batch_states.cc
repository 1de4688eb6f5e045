#include "store/limits/batch_states.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "core/limits/decide.h"

namespace penstock::store {
namespace {

constexpr std::size_t kNoKey = SIZE_MAX;

}  // namespace

BatchStates::BatchStates(std::span<const LimitRequest> requests) : requests_(requests) {
  for (const LimitRequest& request : requests) {
    only_looks_ = only_looks_ && request.cost == 0;
    for (const LimitCheck& check : request.checks) {
      if (is_limit_key(check.key)) keys_.push_back(check.key);
    }
  }
  std::ranges::sort(keys_);
  const auto repeated = std::ranges::unique(keys_);
  keys_.erase(repeated.begin(), repeated.end());
  slots_.resize(keys_.size());
  for (const LimitRequest& request : requests) {
    for (const LimitCheck& check : request.checks) {
      const auto at = std::ranges::lower_bound(keys_, check.key);
      const bool known = at != keys_.end() && *at == check.key;
      places_.push_back(known ? static_cast<std::size_t>(at - keys_.begin()) : kNoKey);
    }
  }
}

void BatchStates::load(std::size_t key, std::string_view record) {
  Result<LimitRecord> decoded = decode_record(record);
  if (decoded) {
    slots_[key].record = std::move(*decoded);
  } else {
    slots_[key].error = std::move(decoded.error());
  }
}

void BatchStates::decide(Instant now, std::span<Result<LimitAnswer>> answers) {
  PENSTOCK_CHECK(answers.size() == requests_.size());
  std::span<const std::size_t> places = places_;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const std::size_t count = requests_[i].checks.size();
    answers[i] = decide_one(requests_[i], places.first(count), now);
    places = places.subspan(count);
  }
}

Result<LimitAnswer> BatchStates::decide_one(const LimitRequest& request,
                                            std::span<const std::size_t> slots, Instant now) {
  std::vector<core::LimitUse> uses;
  uses.reserve(slots.size());
  bool carried_over = false;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == kNoKey) {
      return invalid_field("key", "must have 1 to 512 bytes");
    }
    Slot& slot = slots_[slots[i]];
    if (slot.error) return std::unexpected(*slot.error);
    const LimitCheck& check = request.checks[i];
    carried_over = carried_over || !core::made_for(slot.record.state, check.limit) ||
                   slot.record.capacity != check.limit.capacity;
    uses.push_back({.limit = &check.limit, .state = &slot.record.state, .shadow = check.shadow});
  }
  const core::Verdict verdict = core::charge_all(uses, request.cost, now, request.statuses);
  // A look writes nothing, nor does a denial, unless it made the state another limit's.
  if (request.cost != 0 && (verdict.admitted || carried_over)) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      slots_[slots[i]].record.capacity = request.checks[i].limit.capacity;
      slots_[slots[i]].changed = true;
    }
  }
  return LimitAnswer{.admitted = verdict.admitted, .bound = verdict.bound};
}

std::vector<BatchStates::Change> BatchStates::changes() const {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].changed) continue;
    changes.push_back({.key = i,
                       .record = encode_record(slots_[i].record),
                       .idle_at = core::idle_at(slots_[i].record.state)});
  }
  return changes;
}

}  // namespace penstock::store
