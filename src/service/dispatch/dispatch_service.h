// The use cases of dispatch: take items in, look them up, cancel and redrive them, and the settings
// of their types; behind it the dispatchers that release them. Calls return at once; the answer
// comes to `done` on one of the service's own threads, exactly once. A full queue answers
// `overloaded` on the calling thread. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item.h"
#include "runtime/batcher.h"
#include "runtime/metrics.h"
#include "service/dispatch/dispatchers.h"
#include "service/dispatch/item_types.h"
#include "service/reads.h"

namespace penstock::service {

// A type whose items only its domain may take in, cancel and redrive: the domain checks, charges
// and records what the queue knows nothing of. Everybody may look at them.
struct OwnedType {
  ItemType type;
  std::string_view owner;   // for people: "payments"
  std::string_view create;  // the route that takes one in: "POST /api/v1/payments"
  std::string_view cancel;  // the routes for one item; empty = the generic route does it
  std::string_view redrive;
};

struct DispatchOptions {
  ConfigName default_slot_config = ConfigName::trusted("default");
  Millis slot_max_delay = std::chrono::days{1};
  std::size_t queue_max = 65'536;  // items waiting to be written
  std::size_t batch_max = 4'096;   // items in one write
  std::size_t writers = 1;         // batches in flight; more than one only helps a shared store
  std::size_t join_min = 64;       // items that make another batch in flight worth its round trip
  std::vector<OwnedType> owned;
  DispatchersOptions dispatchers;
};

struct DispatchSummary {
  ItemType type;
  store::QueueSummary queue;
  // Until all READY items are gone, were they all due as soon as the first. None while the type is
  // switched off, or when nothing bounds the pace and nothing was sent lately.
  std::optional<double> drain_seconds;
  std::optional<Instant> paused_until;
  std::optional<std::string> lease_holder;
};

// One change of a type: what it was before, if it was, and what it is since.
struct ItemTypeChange {
  Instant at{};
  std::optional<core::ItemTypeSettings> before;
  core::ItemTypeSettings after;
};

class DispatchService {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;
  using Taken = std::vector<Result<store::Enqueued>>;

  // Reads the item types; fails when the store cannot tell them. All must outlive the service.
  static Result<std::unique_ptr<DispatchService>> start(DispatchOptions options,
                                                        const DispatchPorts& ports, Log& log,
                                                        runtime::Metrics& metrics);
  ~DispatchService() { stop(); }

  // One answer per call, in order; an empty list of calls is answered at once. `forbidden` for a
  // type that a domain owns, as cancel() and redrive().
  void enqueue(std::vector<core::ItemCall> calls, std::string request_id,
               std::move_only_function<void(Taken)> done);
  // The same for the domain that owns the type.
  void enqueue_owned(std::vector<core::ItemCall> calls, std::string request_id,
                     std::move_only_function<void(Taken)> done);
  void find(ItemType type, ItemId id, Done<store::ItemView> done);
  void cancel(ItemType type, ItemId id, std::string request_id, Done<store::ItemView> done);
  void redrive(ItemType type, ItemId id, std::string request_id, Done<store::ItemView> done);
  void summary(ItemType type, Done<DispatchSummary> done);
  // As QueueStore::dead; `not_found` when there is no such type.
  void dead(ItemType type, std::optional<store::DeadPlace> after, std::size_t limit,
            Done<std::vector<store::DeadItem>> done);
  // Whether the generic calls may take in items of this type; the error names the route that may.
  Result<void> may_take(const ItemType& type) const;

  void find_type(const ItemType& type, Done<store::ItemTypeRecord> done);
  // Those behind `after` (empty = all), in the order of their names.
  void list_types(const ItemType& after, std::size_t limit,
                  Done<std::vector<store::ItemTypeRecord>> done);
  // `change` makes the new settings from those in force, maybe several times.
  void change_type(ItemType type, ItemTypes::Change change, std::string request_id,
                   Done<store::ItemTypeRecord> done);
  void type_history(ItemType type, Done<std::vector<ItemTypeChange>> done);  // newest first

  bool knows(const ItemType& type) const { return types_.find(type) != nullptr; }
  // Whether items of an enabled type go to a sink of such a kind.
  bool uses_sink(const std::function<bool(std::string_view kind)>& is_meant) const;
  Kinds sink_kinds() const noexcept { return ports_.sink_kinds; }
  // Why items of an enabled type cannot be handed over by this node, if any cannot.
  Result<void> check_sinks() const;

  // Finishes what was taken; later calls are answered `overloaded`. Idempotent.
  void stop();

 private:
  DispatchService(DispatchOptions options, const DispatchPorts& ports, Log& log,
                  runtime::Metrics& metrics);

  using Answer = Result<store::Enqueued>;

  // The error names `route`, the member of OwnedType that leads to the owner.
  Result<void> check_owner(const ItemType& type, std::string_view OwnedType::* route) const;
  Result<store::NewItem> item_of(core::ItemCall&& call);
  std::vector<Answer> execute(std::span<store::NewItem> items);
  Result<DispatchSummary> summarize(const ItemType& type);
  ItemTypes::Change checked(ItemTypes::Change change) const;

  const DispatchOptions options_;
  DispatchPorts ports_;
  Log& log_;
  std::atomic<std::uint64_t> drawn_{0};
  runtime::Histogram& batch_size_;
  ItemTypes types_;
  std::unique_ptr<Dispatchers> dispatchers_;  // made once the types are known
  Readers readers_;
  runtime::Batcher<store::NewItem, Answer> batcher_;  // last: its thread uses all of the above
};

}  // namespace penstock::service
