#include "store/embedded/store_parts.h"

#include <mutex>
#include <utility>

namespace penstock::store::embedded {

Result<void> EmbeddedHealth::check() {
  if (Result<void> state = writer_.engine.check(); state) return state;
  // While the store is reported as not ready nobody may call it, so asking is also what mends it. A
  // writer that is at work does so itself.
  if (const std::unique_lock lock(writer_.mutex, std::try_to_lock); lock.owns_lock()) {
    return writer_.ready();
  }
  return writer_.engine.check();
}

std::string EmbeddedHealth::note() {
  const std::string damage = writer_.engine.damage();
  return damage.empty() ? damage : "damage seen: " + damage;
}

StoreParts::StoreParts(std::unique_ptr<Engine> engine_in, const Clock& clock,
                       ProgressRecord::MonotonicSource monotonic)
    : engine(std::move(engine_in)),
      writer(*engine, clock, monotonic),
      slots(writer),
      configs(writer),
      retention(writer),
      life(writer),
      policies(writer),
      limit_archive(writer),
      queue(writer),
      leases(writer),
      item_types(writer),
      payments(writer),
      payment_rules(writer),
      quotas(writer),
      deliveries(writer),
      usage_export(writer),
      attempts(writer),
      send_keys(writer),
      progress(writer),
      health(writer) {}

Result<std::unique_ptr<StoreParts>> StoreParts::open(const EngineOptions& options,
                                                     const Clock& clock,
                                                     ProgressRecord::MonotonicSource monotonic) {
  Result<std::unique_ptr<Engine>> engine = Engine::open(options, clock);
  if (!engine) return std::unexpected(std::move(engine.error()));
  auto parts = std::make_unique<StoreParts>(std::move(*engine), clock, monotonic);
  const std::lock_guard lock(parts->writer.mutex);
  if (Result<void> loaded = parts->writer.load(); !loaded) {
    return std::unexpected(std::move(loaded.error()));
  }
  if (Result<void> ended = parts->leases.end_all(); !ended) {
    return std::unexpected(std::move(ended.error()));
  }
  return parts;
}

Backend StoreParts::backend() noexcept {
  return {.name = "embedded",
          .health = &health,
          .retention_clock = &progress,
          .slots = {.store = &slots, .configs = &configs, .retention = &retention, .life = &life},
          .limits = {.policies = &policies, .archive = &limit_archive},
          .queue = {.store = &queue, .leases = &leases, .types = &item_types},
          .payments = {.store = &payments, .rules = &payment_rules},
          .quota = {.store = &quotas,
                    .deliveries = &deliveries,
                    .usage = &usage_export,
                    .attempts = &attempts,
                    .keys = &send_keys}};
}

}  // namespace penstock::store::embedded
