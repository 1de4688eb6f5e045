#include "core/limits/state.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace penstock::core {

LimitState::LimitState(const LimitState& other)
    : last(other.last), window_seconds(other.window_seconds), type(other.type) {
  if (type != LimitType::sliding_window) {
    std::memcpy(static_cast<void*>(&bucket), &other.bucket, sizeof bucket);
    return;
  }
  log = {.entries = other.log.room > 0 ? new LogEntry[other.log.room] : nullptr,
         .sum = other.log.sum,
         .first = 0,
         .count = other.log.count,
         .room = other.log.room};
  std::copy_n(other.log.entries + other.log.first, log.count, log.entries);
}

LimitState& LimitState::operator=(const LimitState& other) {
  if (this != &other) *this = LimitState(other);
  return *this;
}

void LimitState::take(LimitState& other) noexcept {
  last = other.last;
  window_seconds = other.window_seconds;
  type = other.type;
  std::memcpy(static_cast<void*>(&bucket), &other.bucket, sizeof bucket);
  other.type = LimitType::token_bucket;
  other.bucket = {.rate = {.tokens = 0, .micros = 1}};
}

void LimitState::free_log() noexcept {
  delete[] log.entries;
  log = {};
}

}  // namespace penstock::core
