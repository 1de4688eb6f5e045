#include "store/quota/embedded/embedded_deliveries.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engine/rocksdb/cursor.h"
#include "store/quota/embedded/delivery_encoding.h"

namespace penstock::store::embedded {
namespace {

constexpr Family kPartFamily = Family::gateway_log;

Result<std::optional<PartRecord>> read_part(const Engine::View& view, const PartName& name) {
  std::string value;
  const rocksdb::Status status =
      view.db().Get(rocksdb::ReadOptions(), view.family(kPartFamily), part_key(name), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return std::unexpected(view.translate(status, "read a message's part"));
  Result<PartRecord> record = decode_part(value);
  if (!record) return std::unexpected(view.in_folder(std::move(record.error())));
  return std::move(*record);
}

// The parts that one call changes: read once, changed in order, written in one step.
class Parts {
 public:
  Parts(const Engine::View& view, Instant now) : view_(view), now_(now) {}

  Result<PartRecord*> open(const PartName& name) {
    const auto [found, added] = parts_.try_emplace(name);
    if (added) {
      Result<std::optional<PartRecord>> known = read_part(view_, name);
      if (!known) return std::unexpected(std::move(known.error()));
      found->second.known = *known;
      found->second.next = known->value_or(PartRecord{.written = now_, .message = {}, .part = {}});
    }
    return &found->second.next;
  }

  Result<void> commit(Engine& engine) {
    rocksdb::WriteBatch batch;
    const auto check = [&](const rocksdb::Status& status) -> Result<void> {
      if (status.ok()) return {};
      return std::unexpected(view_.translate(status, "write a message's part"));
    };
    auto* const family = view_.family(kPartFamily);
    for (const auto& [name, part] : parts_) {
      const auto& known = part.known;
      rocksdb::Status status;
      if (known && known->written != part.next.written) {
        status = batch.Delete(family, part_time_key(known->written, name));
        if (!status.ok()) return check(status);
      }
      if (known && !known->message.empty() && known->message != part.next.message) {
        status = batch.Delete(family, message_part_key(known->message, name));
        if (!status.ok()) return check(status);
      }
      status = batch.Put(family, part_key(name), encode_part(part.next));
      if (status.ok()) {
        status = batch.Put(family, part_time_key(part.next.written, name), encode_part_mark());
      }
      if (status.ok() && !part.next.message.empty()) {
        status = batch.Put(family, message_part_key(part.next.message, name), encode_part_mark());
      }
      if (!status.ok()) return check(status);
    }
    return engine.commit(batch);
  }

 private:
  struct Change {
    std::optional<PartRecord> known;
    PartRecord next;
  };

  const Engine::View& view_;
  const Instant now_;
  std::map<PartName, Change> parts_;
};

}  // namespace

Result<void> EmbeddedDeliveries::note_taken(std::span<const TakenPart> parts,
                                            std::optional<Instant> now) {
  if (parts.empty()) return {};
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return ready;
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  Parts changes(*view, at(now));
  for (const TakenPart& taken : parts) {
    const Result<PartRecord*> part = changes.open(taken.name);
    if (!part) return std::unexpected(part.error());
    PartRecord& record = **part;
    if (!record.message.empty() && record.message != taken.message) {
      record = {.written = at(now), .message = {}, .part = {}};
    }
    record.message = taken.message;
    record.part.part = taken.part;
    record.part.parts = taken.parts;
  }
  return changes.commit(writer_.engine);
}

Result<std::vector<bool>> EmbeddedDeliveries::note_reports(std::span<const PartReport> reports,
                                                           std::optional<Instant> now) {
  std::vector<bool> known;
  if (reports.empty()) return known;
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  Parts changes(*view, at(now));
  for (const PartReport& report : reports) {
    const Result<PartRecord*> part = changes.open(report.name);
    if (!part) return std::unexpected(part.error());
    PartRecord& record = **part;
    known.push_back(!record.message.empty());
    if (!core::replaces(report.state, record.part.state)) continue;
    record.part.state = report.state;
    record.part.at = at(now);
    record.part.detail = report.detail;
  }
  if (Result<void> written = changes.commit(writer_.engine); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return known;
}

Result<std::vector<core::DeliveryPart>> EmbeddedDeliveries::find_parts(const ItemId& message) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  std::vector<core::DeliveryPart> parts;
  const std::string begin = message_parts_key(message);
  Cursor rows(*view, kPartFamily, begin, behind(begin));
  for (; rows.valid(); rows.next()) {
    const Result<PartName> name = decode_message_part_key(rows.key());
    if (!name) return std::unexpected(view->in_folder(name.error()));
    Result<std::optional<PartRecord>> record = read_part(*view, *name);
    if (!record) return std::unexpected(std::move(record.error()));
    // It may have been forgotten since the cursor was made.
    if (*record && (*record)->message == message) parts.push_back(std::move((*record)->part));
  }
  if (Result<void> read = rows.status(); !read) return std::unexpected(std::move(read.error()));
  std::ranges::stable_sort(parts, {}, &core::DeliveryPart::part);
  return parts;
}

Result<std::size_t> EmbeddedDeliveries::forget_parts(Instant before, std::size_t limit) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  auto* const family = view->family(kPartFamily);
  std::size_t gone = 0;
  Cursor rows(*view, kPartFamily, std::string(1, kPartTimeTag), part_time_key(before));
  for (; rows.valid() && gone < limit; rows.next(), ++gone) {
    const Result<PartTime> time = decode_part_time_key(rows.key());
    if (!time) return std::unexpected(view->in_folder(time.error()));
    const Result<std::optional<PartRecord>> record = read_part(*view, time->name);
    if (!record) return std::unexpected(record.error());
    rocksdb::Status status =
        batch.Delete(family, rocksdb::Slice(rows.key().data(), rows.key().size()));
    if (status.ok() && *record) status = batch.Delete(family, part_key(time->name));
    if (status.ok() && *record && !(*record)->message.empty()) {
      status = batch.Delete(family, message_part_key((*record)->message, time->name));
    }
    if (!status.ok()) return std::unexpected(view->translate(status, "forget a message's part"));
  }
  if (Result<void> read = rows.status(); !read) return std::unexpected(std::move(read.error()));
  if (gone == 0) return gone;
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return gone;
}

}  // namespace penstock::store::embedded
