#include "store/quota/embedded/quota.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engine/rocksdb/bytes.h"
#include "engine/rocksdb/records.h"
#include "store/quota/embedded/quota_encoding.h"

namespace penstock::store::embedded {
namespace {

constexpr Family kPartFamily = Family::gateway_log;

Result<std::optional<PartRecord>> read_part(const Engine::View& view, const PartName& name) {
  return view.find(kPartFamily, part_key(name), "read a message's part", decode_part);
}

// The parts that one call changes: read once, changed in order, written in one step.
class Parts {
 public:
  Parts(const Engine::View& view, Instant now) : view_(view), now_(now) {}

  Result<PartRecord*> open(const PartName& name) {
    const auto [found, added] = parts_.try_emplace(name);
    if (added) {
      found->second.known = PENSTOCK_TRY(read_part(view_, name));
      found->second.next =
          found->second.known.value_or(PartRecord{.written = now_, .message = {}, .part = {}});
    }
    return &found->second.next;
  }

  Result<void> commit(Engine& engine) {
    Changes changes(view_);
    for (const auto& [name, part] : parts_) {
      const auto& [known, next] = part;
      if (known && known->written != next.written) {
        changes.remove(kPartFamily, part_time_key(known->written, name));
      }
      if (known && !known->message.empty() && known->message != next.message) {
        changes.remove(kPartFamily, message_part_key(known->message, name));
      }
      changes.put(kPartFamily, part_key(name), encode_part(next));
      changes.put(kPartFamily, part_time_key(next.written, name), encode_mark());
      if (!next.message.empty()) {
        changes.put(kPartFamily, message_part_key(next.message, name), encode_mark());
      }
    }
    return changes.commit(engine);
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
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  Parts changes(view, writer_.at(now));
  for (const TakenPart& taken : parts) {
    PartRecord* const part = PENSTOCK_TRY(changes.open(taken.name));
    PartRecord& record = *part;
    if (!record.message.empty() && record.message != taken.message) {
      record = {.written = writer_.at(now), .message = {}, .part = {}};
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
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  Parts changes(view, writer_.at(now));
  for (const PartReport& report : reports) {
    PartRecord* const part = PENSTOCK_TRY(changes.open(report.name));
    PartRecord& record = *part;
    known.push_back(!record.message.empty());
    if (!core::replaces(report.state, record.part.state)) continue;
    record.part.state = report.state;
    record.part.at = writer_.at(now);
    record.part.detail = report.detail;
  }
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return known;
}

Result<std::vector<core::DeliveryPart>> EmbeddedDeliveries::find_parts(const ItemId& message) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  std::vector<core::DeliveryPart> parts;
  const std::string begin = message_parts_key(message);
  Cursor rows(view, kPartFamily, begin, behind(begin));
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    const PartName name = PENSTOCK_TRY(view.in_folder(decode_message_part_key(rows.key())));
    std::optional<PartRecord> record = PENSTOCK_TRY(read_part(view, name));
    // It may have been forgotten since the cursor was made.
    if (record && record->message == message) parts.push_back(std::move(record->part));
  }
  std::ranges::stable_sort(parts, {}, &core::DeliveryPart::part);
  return parts;
}

Result<std::size_t> EmbeddedDeliveries::forget_parts(Instant before, std::size_t limit) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  Changes changes(view);
  std::size_t gone = 0;
  Cursor rows(view, kPartFamily, std::string(1, kPartTimeTag), part_time_key(before));
  for (; PENSTOCK_TRY(rows.more()); rows.next(), ++gone) {
    if (gone == limit) break;
    const PartTime time = PENSTOCK_TRY(view.in_folder(decode_part_time_key(rows.key())));
    const std::optional<PartRecord> record = PENSTOCK_TRY(read_part(view, time.name));
    changes.remove(kPartFamily, rows.key());
    if (!record) continue;
    changes.remove(kPartFamily, part_key(time.name));
    if (!record->message.empty()) {
      changes.remove(kPartFamily, message_part_key(record->message, time.name));
    }
  }
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return gone;
}

}  // namespace penstock::store::embedded
