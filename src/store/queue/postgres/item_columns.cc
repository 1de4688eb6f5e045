#include "store/queue/postgres/item_columns.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "engine/sql/values.h"

namespace penstock::store::postgres {

void ItemColumns::add(const NewItem& item) {
  if (types.empty() || types.back() != item.type.str()) types.emplace_back(item.type.str());
  item_types.push_back(static_cast<std::int32_t>(types.size()));
  ids.emplace_back(item.id.str());
  due_us.push_back(epoch_us(item.due));
  events.emplace_back(item.slot ? std::string_view(item.slot->event.str()) : std::string_view());
  contexts.emplace_back(item.context);
  digests.push_back(bytes_of(item.digest));
}

void ItemColumns::put_all(Params& params) const {
  params.texts(types).int4s(item_types).texts(ids).int8s(due_us).texts(events);
  params.byteas(contexts).byteas(digests);
}

std::string_view bytes_of(const BodyDigest& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::vector<KnownItem> known_items(const Rows& rows, int column) {
  const std::vector<std::int64_t> places = rows.integers(0, column);
  const std::vector<std::string_view> digests = rows.texts(0, column + 1);
  const std::vector<std::int64_t> times = rows.integers(0, column + 2);
  const std::vector<std::int64_t> states = rows.integers(0, column + 3);
  PENSTOCK_CHECK(digests.size() == places.size());
  PENSTOCK_CHECK(times.size() == places.size() && states.size() == places.size());
  std::vector<KnownItem> known(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    known[i].place = static_cast<std::size_t>(places[i]) - 1;
    std::memcpy(known[i].digest.data(), digests[i].data(),
                std::min(digests[i].size(), known[i].digest.size()));
    known[i].scheduled = from_epoch_us(times[i]);
    known[i].state = static_cast<ItemState>(states[i]);
  }
  return known;
}

Enqueued met(const KnownItem& known, const BodyDigest& digest) {
  const EnqueueResult result = known.state == ItemState::cancelled ? EnqueueResult::cancelled
                               : known.digest == digest            ? EnqueueResult::same
                                                                   : EnqueueResult::different;
  return {.result = result, .state = known.state, .scheduled = known.scheduled};
}

}  // namespace penstock::store::postgres
