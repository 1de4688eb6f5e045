#include "runtime/connection_health.h"

#include <utility>

namespace penstock::runtime {

bool ConnectionHealth::on_probe(std::optional<std::string> trouble) {
  const std::lock_guard lock(mutex_);
  const bool changed = trouble.has_value() != probe_trouble_.has_value();
  probe_trouble_ = std::move(trouble);
  if (!probe_trouble_ && probe_would_tell_) call_trouble_.reset();
  return changed;
}

void ConnectionHealth::on_success() {
  const std::lock_guard lock(mutex_);
  call_trouble_.reset();
}

Millis ConnectionHealth::on_trouble(const std::string& what, bool probe_would_tell, Instant now) {
  const std::lock_guard lock(mutex_);
  // Trouble of long ago was over, though no start came to tell.
  const bool goes_on = call_trouble_ && now - trouble_at_ < kCallTrouble;
  if (!goes_on) trouble_since_ = now;
  call_trouble_ = what;
  probe_would_tell_ = probe_would_tell;
  trouble_at_ = now;
  return std::chrono::floor<Millis>(now - trouble_since_);
}

Result<void> ConnectionHealth::check_probe() const {
  const std::lock_guard lock(mutex_);
  if (probe_trouble_) return fail(ErrorKind::unavailable, *probe_trouble_);
  return {};
}

Result<void> ConnectionHealth::check(Instant now) const {
  const std::lock_guard lock(mutex_);
  if (probe_trouble_) return fail(ErrorKind::unavailable, *probe_trouble_);
  if (call_trouble_ && now - trouble_at_ < kCallTrouble) {
    return fail(ErrorKind::unavailable, *call_trouble_);
  }
  return {};
}

}  // namespace penstock::runtime
