// The ports of the queue on PostgreSQL. Thread-safe; calls run in parallel as far as the pool has
// connections.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/postgres/connection.h"
#include "engine/sql/doubt.h"
#include "store/queue/ports.h"
#include "store/queue/postgres/claim_hints.h"
#include "store/queue/postgres/item_columns.h"
#include "store/slots/postgres/slots.h"

namespace penstock::store::postgres {

// When the first item of each type of a batch is due: what claims and other nodes must hear of new
// items. Lives for one call; the types must outlive it. One thread at a time.
struct Earliest {
  std::vector<std::string_view> types;
  std::vector<std::int64_t> due_us;

  void add(const ItemType& type, Instant due);
  void lower(ClaimHints& hints) const;
  Call announcement(std::optional<Instant> now) const;
};

// ItemFeed on the notifications that Changes receives: passes them on, and keeps the hints of
// claims true when another node enqueues.
class ItemNews final : public ItemFeed {
 public:
  static constexpr std::string_view kChannel = "penstock_item";

  // `hints` must outlive this.
  explicit ItemNews(ClaimHints& hints) : hints_(hints) {}

  void subscribe(Listener listener) override;

  void heard(std::string_view payload);  // "TYPE DUE", DUE in microseconds since the epoch
  void missed();                         // the connection was down

 private:
  void tell(const std::optional<ItemType>& type);

  ClaimHints& hints_;
  std::mutex mutex_;
  Listener listener_;  // guarded by mutex_, also while it runs
};

// Each call is one round trip, but for items with slots, where one more looks for items that are
// there.
class Queue final : public QueueStore {
 public:
  // Both must outlive this. `database`: of connections whose commits wait for the disk.
  Queue(Database database, Slots& slots, ClaimHints& hints)
      : database_(database), slots_(slots), hints_(hints) {}

  std::vector<Result<Enqueued>> enqueue(std::span<const NewItem> items,
                                        std::optional<Instant> now) override;
  Result<Claim> claim(const ClaimRequest& request, std::optional<Instant> now) override;
  Result<std::vector<bool>> settle(const SettleRequest& request,
                                   std::optional<Instant> now) override;
  Result<ItemView> cancel(const ItemType& type, const ItemId& id,
                          std::optional<Instant> now) override;
  Result<ItemView> redrive(const ItemType& type, const ItemId& id,
                           std::optional<Instant> now) override;
  Result<std::optional<ItemView>> find(const ItemType& type, const ItemId& id) override;
  Result<QueueSummary> summary(const ItemType& type) override;
  Result<std::vector<DeadItem>> dead(const ItemType& type, const std::optional<DeadPlace>& after,
                                     std::size_t limit) override;
  Result<std::size_t> forget(const ItemType& type, Instant before, std::size_t limit) override;

 private:
  struct Answers;
  using Places = std::vector<std::size_t>;  // into the batch

  DatabaseResult<Answers> enqueue_once(std::span<const NewItem> items, const Places& firsts,
                                       std::optional<Instant> now, LookUp look_up,
                                       const runtime::Deadline& deadline);
  DatabaseResult<Answers> enqueue_plain(std::span<const NewItem> items, const Places& places,
                                        std::optional<Instant> now, LookUp look_up,
                                        const runtime::Deadline& deadline);
  DatabaseResult<Answers> enqueue_slots(std::span<const NewItem> items, const Places& places,
                                        std::optional<Instant> now, LookUp look_up,
                                        const runtime::Deadline& deadline);
  Result<ItemView> change(std::string_view statement, const ItemType& type, const ItemId& id,
                          std::optional<Instant> now);

  Database database_;
  Slots& slots_;
  ClaimHints& hints_;
  Doubt doubt_;
};

// One row for each type, one statement for each call; the database's clock decides. `database`: of
// connections whose commits wait for the disk: a token is never given twice.
std::unique_ptr<LeaseStore> make_leases(Database database);
// Every version of the settings of a type is a row.
std::unique_ptr<ItemTypeStore> make_item_types(Database database);

// An item as people see it, told from `rows`: the answer of find_item.sql, not empty. Pure.
ItemView item_story(const ItemType& type, const ItemId& id, const Rows& rows);
// The name of a batch for people, and back; 0 = not one of ours.
std::string batch_name(std::int64_t batch);
std::int64_t batch_of(std::string_view name);

}  // namespace penstock::store::postgres
