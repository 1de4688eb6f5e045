// RetentionClock on RocksDB: progress is kept in one record, which is written once a minute.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/retention/progress.h"
#include "engine/rocksdb/engine.h"
#include "store/retention_clock.h"

namespace penstock::store::embedded {

struct Writer;

// meta  "progress" -> kFormat, then of each mark: u64 wall us, u64 progress us
inline constexpr std::string_view kProgressKey = "progress";
std::string encode_progress(const core::Progress& progress);
Result<core::Progress> decode_progress(std::string_view value);

// What the writer holds of it, guarded by its mutex.
class ProgressRecord {
 public:
  using MonotonicSource = Micros (*)() noexcept;
  explicit ProgressRecord(MonotonicSource monotonic) : monotonic_(monotonic) {}

  Result<void> load(const Engine::View& view);
  // Goes on to `now`; nothing is written.
  Instant older_than(Millis keep, Instant now);
  // Writes what there is unless that was done within the last minute: a crash loses so much
  // progress, which only keeps things longer.
  Result<void> write(Engine& engine);

 private:
  const MonotonicSource monotonic_;
  core::Progress progress_;
  std::optional<Micros> advanced_;  // by the monotonic clock
  std::optional<Micros> written_;   // by the monotonic clock
};

class EmbeddedProgress final : public RetentionClock {
 public:
  explicit EmbeddedProgress(Writer& writer) : writer_(writer) {}

  Result<Instant> older_than(Millis keep) override;

 private:
  Writer& writer_;
};

}  // namespace penstock::store::embedded
