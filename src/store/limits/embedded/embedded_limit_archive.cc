#include "store/limits/embedded/embedded_limit_archive.h"

#include <mutex>

#include "engine/rocksdb/cursor.h"

namespace penstock::store::embedded {

Result<void> EmbeddedLimitArchive::save(std::span<const SavedLimit> changes) {
  if (changes.empty()) return {};
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return ready;
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* family = view->family(Family::throttle_usage);
  for (const SavedLimit& change : changes) {
    const rocksdb::Status status = change.state.empty()
                                       ? batch.Delete(family, change.key)
                                       : batch.Put(family, change.key, change.state);
    if (!status.ok()) return std::unexpected(view->translate(status, "save the usage of keys"));
  }
  return writer_.engine.commit(batch);
}

Result<void> EmbeddedLimitArchive::load(const Visit& visit) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  Cursor rows(*view, Family::throttle_usage, {}, {});
  for (; rows.valid(); rows.next()) {
    if (Result<void> taken = visit(rows.key(), rows.value()); !taken) return taken;
  }
  return rows.status();
}

}  // namespace penstock::store::embedded
