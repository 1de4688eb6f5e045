#include "core/dispatch/pace.h"

#include <algorithm>

namespace penstock::core {

Pace::Pace(std::optional<PaceLimit> limit, Instant now) noexcept
    : limit_(limit), start_(limit ? now + kPaceSpan : now) {}

Instant Pace::next(Instant now) const noexcept {
  Instant at = std::max(now, start_);
  if (!limit_) return now;
  const auto most = static_cast<std::size_t>(limit_->per_second);
  if (gone_.size() >= most) at = std::max(at, gone_[gone_.size() - most] + kPaceSpan);
  const std::int64_t burst = std::min(limit_->burst, limit_->per_second);
  return std::max(at, even_ - interval() * (burst - 1));
}

void Pace::record(Instant at) {
  forget_before(at - kPaceSpan);
  gone_.push_back(at);
  if (limit_) even_ = std::max(even_, at) + interval();
}

void Pace::forget_before(Instant instant) {
  while (!gone_.empty() && gone_.front() <= instant) gone_.pop_front();
}

void Pace::take_back(Instant at) noexcept {
  const auto found = std::lower_bound(gone_.begin(), gone_.end(), at);
  if (found == gone_.end() || *found != at) return;
  gone_.erase(found);
  if (limit_) even_ -= interval();
}

}  // namespace penstock::core
