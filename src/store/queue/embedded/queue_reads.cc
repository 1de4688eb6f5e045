#include "store/queue/embedded/queue_reads.h"

#include <string>
#include <utility>

namespace penstock::store::embedded {

Result<std::optional<ItemRecord>> read_item(const Engine::View& view, const ItemType& type,
                                            const ItemId& id, const rocksdb::ReadOptions& options) {
  std::string value;
  const rocksdb::Status status =
      view.db().Get(options, view.family(Family::queue_item), item_key(type, id), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return std::unexpected(view.translate(status, "read an item"));
  Result<ItemRecord> record = decode_item(value);
  if (!record) return std::unexpected(view.in_folder(std::move(record.error())));
  return std::move(*record);
}

void count_claim(ItemRecord& record, std::optional<ItemRecord>&& claimed) {
  if (claimed && record.state == ItemState::ready && record.claim < claimed->claim) {
    record = std::move(*claimed);
  }
}

Result<std::optional<ItemRecord>> current_item(const Writer& writer, const Engine::View& view,
                                               const ItemType& type, const ItemId& id) {
  // Before the record: what is remembered follows a commit.
  std::optional<ItemRecord> claimed = writer.queue.claimed(type, id);
  Result<std::optional<ItemRecord>> record = read_item(view, type, id);
  if (record && *record) count_claim(**record, std::move(claimed));
  return record;
}

}  // namespace penstock::store::embedded
