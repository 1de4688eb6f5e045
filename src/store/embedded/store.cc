#include "store/embedded/store.h"

#include <mutex>
#include <utility>

#include "store/embedded/store_parts.h"

namespace penstock::store::embedded {

Result<Instant> EmbeddedProgress::older_than(Millis keep) {
  const std::lock_guard lock(writer_.mutex);
  PENSTOCK_TRY(writer_.ready());
  const Instant old = writer_.progress.older_than(keep, writer_.clock.now());
  PENSTOCK_TRY(writer_.progress.write(writer_.engine));
  return old;
}

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
    : engine(std::move(engine_in)), writer(*engine, clock, monotonic) {}

Result<std::unique_ptr<StoreParts>> StoreParts::open(const EngineOptions& options,
                                                     const Clock& clock,
                                                     ProgressRecord::MonotonicSource monotonic) {
  std::unique_ptr<Engine> engine = PENSTOCK_TRY(Engine::open(options, clock));
  auto parts = std::make_unique<StoreParts>(std::move(engine), clock, monotonic);
  const std::lock_guard lock(parts->writer.mutex);
  PENSTOCK_TRY(parts->writer.load());
  PENSTOCK_TRY(parts->leases.end_all());
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

Result<std::unique_ptr<EmbeddedStore>> EmbeddedStore::open(const EmbeddedOptions& options,
                                                           const Clock& clock) {
  std::unique_ptr<StoreParts> parts =
      PENSTOCK_TRY(StoreParts::open({.dir = options.dir,
                                     .relaxed_durability = options.relaxed_durability,
                                     .cache_bytes = options.cache_bytes,
                                     .tables_open = options.tables_open},
                                    clock));
  return std::unique_ptr<EmbeddedStore>(new EmbeddedStore(std::move(parts)));
}

EmbeddedStore::EmbeddedStore(std::unique_ptr<StoreParts> parts) noexcept
    : parts_(std::move(parts)) {}

EmbeddedStore::~EmbeddedStore() = default;

Backend EmbeddedStore::backend() noexcept { return parts_->backend(); }

}  // namespace penstock::store::embedded
