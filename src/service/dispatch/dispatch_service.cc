#include "service/dispatch/dispatch_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/rng.h"

namespace penstock::service {
namespace {

constexpr std::string_view kItems = "items";    // too many of them may wait
constexpr std::size_t kTypeHistoryMax = 1'000;  // versions of one type shown

std::unexpected<Error> no_such_type(const ItemType& type) {
  return fail(ErrorKind::not_found, "there is no item type " + type.str() +
                                        "; PUT /admin/dispatch/types/" + type.str() + " makes it");
}

Error no_such_item(const ItemType& type, const ItemId& id) {
  return {.kind = ErrorKind::not_found, .what = "there is no item " + type.str() + ":" + id.str()};
}

// Under which the slot of an item is known.
EventId slot_event(const ItemType& type, const ItemId& id) {
  return core::item_event(type.str() + ":" + id.str());
}

double seconds_of(Micros span) { return std::chrono::duration<double>(span).count(); }

}  // namespace

DispatchService::DispatchService(DispatchOptions options, const DispatchPorts& ports, Log& log,
                                 runtime::Metrics& metrics)
    : options_(std::move(options)),
      ports_(ports),
      log_(log),
      batch_size_(metrics.histogram("penstock_dispatch_enqueue_batch_size",
                                    "Items taken in by one durable write",
                                    {1, 4, 16, 64, 256, 1'024, 4'096, 10'000})),
      types_(ports.types),
      readers_("dispatch", kItems),
      batcher_({.name = "dispatch-write",
                .workers = options_.writers,
                .join_min = options_.join_min,
                .queue_max = options_.queue_max,
                .batch_max = options_.batch_max},
               [this](std::span<store::NewItem> items) { return execute(items); }) {
  metrics.gauge_function("penstock_dispatch_waiting", "Items waiting to be written",
                         [this] { return static_cast<double>(batcher_.waiting()); });
}

Result<std::unique_ptr<DispatchService>> DispatchService::start(DispatchOptions options,
                                                                const DispatchPorts& ports,
                                                                Log& log,
                                                                runtime::Metrics& metrics) {
  std::unique_ptr<DispatchService> service(
      new DispatchService(std::move(options), ports, log, metrics));
  PENSTOCK_TRY(service->types_.refresh());
  service->dispatchers_ = std::make_unique<Dispatchers>(service->options_.dispatchers, ports,
                                                        service->types_, log, metrics);
  return service;
}

void DispatchService::stop() {
  batcher_.stop();
  readers_.stop();
  if (dispatchers_) dispatchers_->stop();
}

Result<void> DispatchService::check_owner(const ItemType& type,
                                          std::string_view OwnedType::* route) const {
  const auto owned = std::ranges::find(options_.owned, type, &OwnedType::type);
  if (owned == options_.owned.end() || (*owned.*route).empty()) return {};
  return fail(ErrorKind::forbidden, fmt::format("items of type {} belong to {}; use {}", type.str(),
                                                owned->owner, *owned.*route));
}

Result<void> DispatchService::may_take(const ItemType& type) const {
  return check_owner(type, &OwnedType::create);
}

Result<store::NewItem> DispatchService::item_of(core::ItemCall&& call) {
  if (types_.find(call.type) == nullptr) return no_such_type(call.type);
  store::NewItem item{.type = std::move(call.type),
                      .id = std::move(call.id),
                      .due = call.due.value_or(Instant{}),
                      .slot = std::nullopt,
                      .context = std::move(call.context),
                      .digest = call.digest};
  if (!call.slot) return item;
  const Instant now = cut_to_millis(ports_.wall.now());
  const std::uint64_t drawn = drawn_.fetch_add(1, std::memory_order_relaxed);
  item.slot = store::SlotRequest{
      .event = slot_event(item.type, item.id),
      .config_name = call.slot->config.empty() ? options_.default_slot_config : call.slot->config,
      .requested = call.slot->requested.value_or(now),
      .max_delay = options_.slot_max_delay,
      .entropy = mix64(options_.dispatchers.seed + drawn)};
  return item;
}

void DispatchService::enqueue(std::vector<core::ItemCall> calls, std::string request_id,
                              std::move_only_function<void(Taken)> done) {
  for (const core::ItemCall& call : calls) {
    if (const Result<void> may = may_take(call.type); !may) {
      return done(Taken(calls.size(), std::unexpected(may.error())));
    }
  }
  enqueue_owned(std::move(calls), std::move(request_id), std::move(done));
}

void DispatchService::enqueue_owned(std::vector<core::ItemCall> calls, std::string request_id,
                                    std::move_only_function<void(Taken)> done) {
  // What the store is not asked for is answered in its place.
  Taken answers(calls.size());
  std::vector<store::NewItem> items;
  std::vector<std::size_t> places;
  items.reserve(calls.size());
  places.reserve(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Result<store::NewItem> item = item_of(std::move(calls[i]));
    if (item) {
      items.push_back(std::move(*item));
      places.push_back(i);
    } else {
      answers[i] = std::unexpected(std::move(item.error()));
    }
  }
  if (items.empty()) return done(std::move(answers));
  decltype(batcher_)::Done answer =
      [this, done = std::move(done), answers = std::move(answers), places = std::move(places),
       request_id = std::move(request_id)](std::vector<Answer> given) mutable {
        for (std::size_t i = 0; i < given.size(); ++i) answers[places[i]] = std::move(given[i]);
        if (log_.enabled(LogLevel::debug)) {
          log_.debug("dispatch.enqueued", {{"request_id", request_id}, {"items", given.size()}});
        }
        done(std::move(answers));
      };
  const std::size_t count = items.size();
  if (!batcher_.submit(std::move(items), std::move(answer))) {
    // NOLINTNEXTLINE(bugprone-use-after-move): a refused submit has taken nothing.
    answer(std::vector<Answer>(count, std::unexpected(too_many(kItems))));
  }
}

std::vector<DispatchService::Answer> DispatchService::execute(std::span<store::NewItem> items) {
  batch_size_.observe(static_cast<double>(items.size()));
  std::vector<Answer> answers = ports_.queue.enqueue(items, std::nullopt);
  const Instant soon = ports_.wall.now() + store::kAnnounceWithin;
  std::set<ItemType> news;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool fresh = answers[i] && answers[i]->result == store::EnqueueResult::created;
    if (fresh && answers[i]->scheduled < soon) news.insert(items[i].type);
  }
  if (dispatchers_) {
    for (const ItemType& type : news) dispatchers_->wake(type);
  }
  return answers;
}

void DispatchService::find(ItemType type, ItemId id, Done<store::ItemView> done) {
  readers_.read(std::move(done),
                [this, type = std::move(type), id = std::move(id)]() -> Result<store::ItemView> {
                  auto found = PENSTOCK_TRY(ports_.queue.find(type, id));
                  if (!found) return std::unexpected(no_such_item(type, id));
                  return std::move(*found);
                });
}

void DispatchService::cancel(ItemType type, ItemId id, std::string request_id,
                             Done<store::ItemView> done) {
  if (Result<void> may = check_owner(type, &OwnedType::cancel); !may) {
    return done(std::unexpected(std::move(may.error())));
  }
  readers_.read(std::move(done), [this, type = std::move(type), id = std::move(id),
                                  request_id = std::move(request_id)] {
    Result<store::ItemView> item = ports_.queue.cancel(type, id, std::nullopt);
    if (!item) return item;
    log_.info("dispatch.cancelled",
              {{"request_id", request_id}, {"item_type", type.str()}, {"item_id", id.str()}});
    // An item without a slot, or whose window has begun, has none to give back. A crash before this
    // leaves one place unused, no more.
    if (ports_.slot_life != nullptr) {
      std::ignore = ports_.slot_life->release(slot_event(type, id), std::nullopt);
    }
    return item;
  });
}

void DispatchService::redrive(ItemType type, ItemId id, std::string request_id,
                              Done<store::ItemView> done) {
  if (Result<void> may = check_owner(type, &OwnedType::redrive); !may) {
    return done(std::unexpected(std::move(may.error())));
  }
  readers_.read(std::move(done), [this, type = std::move(type), id = std::move(id),
                                  request_id = std::move(request_id)] {
    Result<store::ItemView> item = ports_.queue.redrive(type, id, std::nullopt);
    if (item) {
      dispatchers_->wake(type);
      log_.info("dispatch.redriven",
                {{"request_id", request_id}, {"item_type", type.str()}, {"item_id", id.str()}});
    }
    return item;
  });
}

void DispatchService::summary(ItemType type, Done<DispatchSummary> done) {
  readers_.read(std::move(done), [this, type = std::move(type)] { return summarize(type); });
}

void DispatchService::dead(ItemType type, std::optional<store::DeadPlace> after, std::size_t limit,
                           Done<std::vector<store::DeadItem>> done) {
  using Items = std::vector<store::DeadItem>;
  readers_.read<ReadCost::heavy>(
      std::move(done),
      [this, type = std::move(type), after = std::move(after), limit]() -> Result<Items> {
        if (!knows(type)) return no_such_type(type);
        return ports_.queue.dead(type, after, limit);
      });
}

Result<DispatchSummary> DispatchService::summarize(const ItemType& type) {
  const ItemTypes::Record record = types_.find(type);
  if (!record) return no_such_type(type);
  store::QueueSummary queue = PENSTOCK_TRY(ports_.queue.summary(type));
  store::LeaseView lease = PENSTOCK_TRY(ports_.leases.view(type, std::nullopt));
  const Instant now = ports_.wall.now();
  DispatchSummary summary{.type = type,
                          .queue = queue,
                          .drain_seconds = std::nullopt,
                          .paused_until = std::nullopt,
                          .lease_holder = std::move(lease.holder)};
  if (lease.paused_until > now) summary.paused_until = lease.paused_until;
  if (!record->settings.enabled) return summary;
  const auto count = [&](core::ItemState state) {
    return static_cast<double>(queue.counts[static_cast<std::size_t>(state)]);
  };
  const double waiting = count(core::ItemState::ready) + count(core::ItemState::claimed);
  if (waiting == 0) {
    summary.drain_seconds = 0;
    return summary;
  }
  const auto& pace = record->settings.max_per_second;
  const double rate = pace ? static_cast<double>(*pace) / seconds_of(core::kPaceSpan)
                           : dispatchers_->recent_rate(type);
  if (rate <= 0) return summary;
  const Instant begin = std::max({now, lease.paused_until, queue.oldest_due.value_or(now)});
  summary.drain_seconds = seconds_of(begin - now) + waiting / rate;
  return summary;
}

void DispatchService::find_type(const ItemType& type, Done<store::ItemTypeRecord> done) {
  const ItemTypes::Record record = types_.find(type);
  if (!record) return done(no_such_type(type));
  done(*record);
}

void DispatchService::list_types(const ItemType& after, std::size_t limit,
                                 Done<std::vector<store::ItemTypeRecord>> done) {
  std::vector<store::ItemTypeRecord> page;
  for (const ItemTypes::Record& record : types_.list()) {
    if (record->type > after && page.size() < limit) page.push_back(*record);
  }
  done(std::move(page));
}

void DispatchService::change_type(ItemType type, ItemTypes::Change change, std::string request_id,
                                  Done<store::ItemTypeRecord> done) {
  readers_.read(std::move(done),
                [this, type = std::move(type), change = std::move(change),
                 request_id = std::move(request_id)]() -> Result<store::ItemTypeRecord> {
                  Result<store::ItemTypeRecord> record = types_.change(type, checked(change));
                  if (!record) return record;
                  log_.info("dispatch.type_changed", {{"request_id", request_id},
                                                      {"item_type", type.str()},
                                                      {"version", record->version},
                                                      {"enabled", record->settings.enabled}});
                  dispatchers_->follow_types();
                  return record;
                });
}

bool DispatchService::uses_sink(const std::function<bool(std::string_view kind)>& is_meant) const {
  return std::ranges::any_of(types_.list(), [&](const ItemTypes::Record& record) {
    return record->settings.enabled && is_meant(record->settings.sink.kind);
  });
}

Result<void> DispatchService::check_sinks() const {
  if (!ports_.judge_sink) return {};
  for (const ItemTypes::Record& record : types_.list()) {
    if (!record->settings.enabled) continue;
    if (const auto good = ports_.judge_sink(record->settings.sink); !good) {
      return fail(ErrorKind::unavailable, record->type.str() + ": " + good.error().what);
    }
  }
  return {};
}

ItemTypes::Change DispatchService::checked(ItemTypes::Change change) const {
  if (!ports_.judge_sink) return change;
  return
      [this, change = std::move(change)](
          const std::optional<core::ItemTypeSettings>& before) -> Result<core::ItemTypeSettings> {
        Result<core::ItemTypeSettings> after = change(before);
        if (!after) return after;
        // What was let in before is not asked again: a node that lacks its sink can still switch it
        // off.
        if (before && before->sink == after->sink) return after;
        PENSTOCK_TRY(ports_.judge_sink(after->sink));
        return after;
      };
}

void DispatchService::type_history(ItemType type, Done<std::vector<ItemTypeChange>> done) {
  using Changes = std::vector<ItemTypeChange>;
  readers_.read(std::move(done), [this, type = std::move(type)]() -> Result<Changes> {
    // One more than is shown: the oldest shown has a before, too.
    std::vector<store::ItemTypeRecord> versions =
        PENSTOCK_TRY(ports_.types.history(type, kTypeHistoryMax + 1));
    if (versions.empty()) return no_such_type(type);
    Changes changes;
    for (std::size_t i = 0; i < std::min(versions.size(), kTypeHistoryMax); ++i) {
      ItemTypeChange& change = changes.emplace_back(
          ItemTypeChange{.at = versions[i].changed, .before = {}, .after = versions[i].settings});
      if (i + 1 < versions.size()) change.before = versions[i + 1].settings;
    }
    return changes;
  });
}

}  // namespace penstock::service
