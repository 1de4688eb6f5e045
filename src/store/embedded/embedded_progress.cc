#include "store/embedded/embedded_progress.h"

#include <rocksdb/write_batch.h>

#include <mutex>
#include <utility>
#include <vector>

#include "engine/rocksdb/bytes.h"
#include "store/embedded/writer.h"

namespace penstock::store::embedded {
namespace {

constexpr Micros kWriteInterval = std::chrono::minutes{1};

rocksdb::Slice progress_key() { return {kProgressKey.data(), kProgressKey.size()}; }

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
  std::string value;
  const rocksdb::Status status =
      view.db().Get(rocksdb::ReadOptions(), view.family(Family::meta), progress_key(), &value);
  progress_ = {};
  advanced_ = written_ = std::nullopt;
  if (status.IsNotFound()) return {};
  if (!status.ok()) return std::unexpected(view.translate(status, "read the progress"));
  Result<core::Progress> progress = decode_progress(value);
  if (!progress) return std::unexpected(view.in_folder(std::move(progress.error())));
  progress_ = std::move(*progress);
  return {};
}

Instant ProgressRecord::older_than(Millis keep, Instant now) {
  const Micros moment = monotonic_();
  progress_.advance(now, advanced_ ? moment - *advanced_ : Micros{0});
  advanced_ = moment;
  return progress_.older_than(keep, now);
}

Result<void> ProgressRecord::write(Engine& engine) {
  if (!advanced_ || (written_ && *advanced_ - *written_ < kWriteInterval)) return {};
  const Result<Engine::View> view = engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  const rocksdb::Status added =
      batch.Put(view->family(Family::meta), progress_key(), encode_progress(progress_));
  if (!added.ok()) return std::unexpected(view->translate(added, "write the progress"));
  if (Result<void> committed = engine.commit(batch); !committed) return committed;
  written_ = advanced_;
  return {};
}

Result<Instant> EmbeddedProgress::older_than(Millis keep) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Instant old = writer_.progress.older_than(keep, writer_.clock.now());
  if (Result<void> written = writer_.progress.write(writer_.engine); !written) {
    return std::unexpected(written.error());
  }
  return old;
}

}  // namespace penstock::store::embedded
