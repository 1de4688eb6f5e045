#include "store/embedded/writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/rocksdb/bytes.h"
#include "engine/rocksdb/records.h"
#include "store/slots/embedded/records.h"

namespace penstock::store::embedded {
namespace {

constexpr Micros kProgressInterval = std::chrono::minutes{1};

}  // namespace

std::string encode_progress(const core::Progress& progress) {
  std::string out;
  put_number(out, kFormat);
  for (const core::TimeMark& mark : progress.marks()) {
    put_sorted_micros(out, mark.wall);
    put_number(out, static_cast<std::uint64_t>(mark.progress.count()));
  }
  return out;
}

Result<core::Progress> decode_progress(std::string_view value) {
  ByteReader reader("the record of progress", value);
  reader.format();
  std::vector<core::TimeMark> marks;
  while (!reader.at_end()) {
    const Instant wall = reader.sorted_micros();
    const auto progress = reader.number<std::uint64_t>();
    core::TimeMark mark{.wall = wall, .progress = Micros{static_cast<std::int64_t>(progress)}};
    const core::TimeMark last = marks.empty() ? core::TimeMark{Instant::min()} : marks.back();
    if (progress > kVersionMax || mark.wall <= last.wall || mark.progress < last.progress) {
      reader.refuse("has marks that are not in order");
    }
    marks.push_back(mark);
  }
  return reader.done(core::Progress(std::move(marks)));
}

Result<void> ProgressRecord::load(const Engine::View& view) {
  progress_ = {};
  advanced_ = written_ = std::nullopt;
  std::optional<core::Progress> written =
      PENSTOCK_TRY(view.find(Family::meta, kProgressKey, "read the progress", decode_progress));
  if (written) progress_ = std::move(*written);
  return {};
}

Instant ProgressRecord::older_than(Millis keep, Instant now) {
  const Micros moment = monotonic_();
  progress_.advance(now, advanced_ ? moment - *advanced_ : Micros{0});
  advanced_ = moment;
  return progress_.older_than(keep, now);
}

Result<void> ProgressRecord::write(Engine& engine) {
  if (!advanced_ || (written_ && *advanced_ - *written_ < kProgressInterval)) return {};
  const Engine::View view = PENSTOCK_TRY(engine.view());
  Changes changes(view);
  changes.put(Family::meta, kProgressKey, encode_progress(progress_));
  PENSTOCK_TRY(changes.commit(engine));
  written_ = advanced_;
  return {};
}

Result<void> Writer::load() {
  windows.drop();
  timelines = {};
  terms_from = Instant::min();
  const Engine::View view = PENSTOCK_TRY(engine.view());
  std::vector<core::SlotConfig> newest = PENSTOCK_TRY(newest_configs(view));
  WindowRecords records(view);
  const Instant now = std::max(clock.now(), kInstantMin);
  std::size_t left = kWarmWindowsMax;
  for (const core::SlotConfig& config : newest) {
    if (left == 0) break;
    const std::size_t read = PENSTOCK_TRY(windows.warm(config, now, left, records));
    left -= std::min(left, read);
  }
  PENSTOCK_TRY(policies.load(view));
  PENSTOCK_TRY(queue.load(view));
  PENSTOCK_TRY(progress.load(view));
  configs.replace(std::move(newest));
  return {};
}

Result<Writer::Turn> Writer::turn() {
  std::unique_lock lock(mutex);
  PENSTOCK_TRY(ready());
  Engine::View view = PENSTOCK_TRY(engine.view());
  return Turn{.lock = std::move(lock), .view = std::move(view)};
}

Result<void> Writer::ready() {
  const Result<bool> reopened = engine.mend();
  if (!reopened) {
    windows.drop();  // the database may have been reopened all the same, for reading
    return std::unexpected(reopened.error());
  }
  if (!*reopened) return {};
  Result<void> loaded = load();
  if (!loaded) engine.set_failure(loaded.error());
  return loaded;
}

}  // namespace penstock::store::embedded
