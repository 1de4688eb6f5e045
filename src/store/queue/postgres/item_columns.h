// The items of one enqueue on their way to the database: each item once, ascending by type and id,
// as columns. Lives for one call; `items` must outlive it. One thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/postgres/binary.h"
#include "store/queue/ports.h"

namespace penstock::store::postgres {

struct ItemColumns {
  std::vector<std::string_view> types;   // ascending
  std::vector<std::int32_t> item_types;  // into `types`, from 1
  std::vector<std::string_view> ids;
  std::vector<std::int64_t> due_us;
  std::vector<std::string_view> events;  // "" = due_us is the time
  std::vector<std::string_view> contexts;
  std::vector<std::string_view> digests;

  bool empty() const noexcept { return ids.empty(); }
  void add(const NewItem& item);       // in ascending order
  void put_all(Params& params) const;  // as assign_slots takes them
};

std::string_view bytes_of(const BodyDigest& digest) noexcept;

// What the database says of an item that was there.
struct KnownItem {
  std::size_t place = 0;  // in the columns, from 0
  BodyDigest digest{};
  Instant scheduled{};
  ItemState state = ItemState::ready;
};
// From four columns of one row: places, digests, times, states.
std::vector<KnownItem> known_items(const Rows& rows, int column);

// A request for an item that was there.
Enqueued met(const KnownItem& known, const BodyDigest& digest);

// Which entries of a batch are which: a later one of the same key is the first one again.
class Distinct {
 public:
  // `key(entry)`: what it is known by.
  template <class Entry, class Key>
  Distinct(std::span<const Entry> all, Key key) : first_of_(all.size()) {
    std::vector<std::size_t> places(all.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::stable_sort(places, {}, [&](std::size_t place) { return key(all[place]); });
    for (const std::size_t place : places) {
      if (firsts_.empty() || key(all[firsts_.back()]) != key(all[place])) firsts_.push_back(place);
      first_of_[place] = firsts_.back();
    }
  }

  // Places of the first ones, ascending by key.
  const std::vector<std::size_t>& firsts() const noexcept { return firsts_; }
  std::size_t first_of(std::size_t place) const noexcept { return first_of_[place]; }

 private:
  std::vector<std::size_t> firsts_;
  std::vector<std::size_t> first_of_;
};

}  // namespace penstock::store::postgres
