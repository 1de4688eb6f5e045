#include "daemon/limit_saver.h"

#include <vector>

namespace penstock::daemon {
namespace {

// In one commit: some milliseconds in which slots wait for their turn.
constexpr std::size_t kChunkKeys = 2'000;

// A key that nobody asks for again is looked at once in a hundred intervals, at the default
// maximum.
constexpr std::size_t kLocalSweepKeys = 20'000;

}  // namespace

LimitSaver::LimitSaver(store::memory::MemoryLimits& limits, store::LimitArchive& archive, Log& log,
                       runtime::Metrics& metrics)
    : limits_(limits),
      archive_(archive),
      log_(log),
      saved_(metrics.counter("penstock_throttle_keys_saved_total",
                             "Changed throttle keys written to the store")) {}

Result<void> LimitSaver::restore() {
  std::uint64_t taken = 0;
  std::vector<store::SavedLimit> gone;
  Result<void> loaded =
      archive_.load([&](std::string_view key, std::string_view state) -> Result<void> {
        const Result<bool> restored = limits_.restore(key, state);
        if (!restored) return std::unexpected(restored.error());
        if (*restored) {
          ++taken;
        } else {
          gone.push_back({.key = std::string(key), .state = {}});  // says nothing any more
        }
        return {};
      });
  if (!loaded) return loaded;
  if (taken > 0) log_.info("throttle.restored", {{"keys", taken}});
  for (std::size_t from = 0; from < gone.size(); from += kChunkKeys) {
    const auto chunk = std::span(gone).subspan(from, std::min(kChunkKeys, gone.size() - from));
    if (Result<void> saved = archive_.save(chunk); !saved) return saved;
  }
  return {};
}

void LimitSaver::start(Millis interval) {
  ticker_.emplace("limit-save", interval, [this](const auto&) { tick(); });
}

void LimitSaver::stop() {
  if (!ticker_) return;
  ticker_->stop();
  ticker_.reset();
  save(store::memory::Collect::all);
}

void LimitSaver::tick() {
  save(store::memory::Collect::in_use);
  limits_.sweep(kLocalSweepKeys);
}

void LimitSaver::save(store::memory::Collect what) {
  std::size_t cursor = 0;
  std::vector<store::SavedLimit> changes;
  for (bool more = true; more;) {
    changes.clear();
    more = limits_.collect_changes(cursor, kChunkKeys, changes, what);
    if (Result<void> saved = archive_.save(changes); !saved) {
      limits_.put_back(changes);
      // Once, not at every interval.
      if (!failing_) log_.warn("throttle.save_failed", {{"error", saved.error().what}});
      failing_ = true;
      return;
    }
    saved_.add(changes.size());
  }
  if (failing_) log_.info("throttle.save_resumed", {});
  failing_ = false;
}

}  // namespace penstock::daemon
