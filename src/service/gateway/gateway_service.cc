#include "service/gateway/gateway_service.h"

#include <utility>

#include "base/check.h"
#include "base/rng.h"
#include "service/gateway/bus_path.h"
#include "service/gateway/send_path.h"

namespace penstock::service {
namespace {

constexpr std::size_t kForgetMessages = 1'000;  // in one step: some 20 ms

Error no_such_user(core::UserId user) {
  return {.kind = ErrorKind::not_found,
          .what = "there is no config of user " + std::to_string(user.raw)};
}

Error no_such_message(const ItemId& id) {
  return {.kind = ErrorKind::not_found, .what = "there is no message " + id.str()};
}

}  // namespace

GatewayService::GatewayService(GatewayOptions options, GatewayPorts ports, Log& log,
                               runtime::Metrics& metrics)
    : options_(options),
      ports_(std::move(ports)),
      log_(log),
      tally_(ports_.quotas, metrics),
      readers_("gateway", kMessages),
      path_(make_path(metrics)),
      usage_ticker_("gateway-usage", options_.usage_interval,
                    [this](const auto&) { flush_usage(); }),
      retention_ticker_("gateway-prune", options_.retention_interval,
                        [this](const auto& should_stop) { forget_old(should_stop); }) {
  metrics.gauge_function("penstock_gateway_waiting", "Messages taken and not answered yet",
                         [this] { return static_cast<double>(path_->waiting()); });
}

std::unique_ptr<SendPath> GatewayService::make_path(runtime::Metrics& metrics) {
  if (options_.attempts != core::AttemptDetail::counts && ports_.attempts != nullptr) {
    attempts_.emplace(*ports_.attempts, options_.attempts, mix64(options_.seed + 1), metrics);
  }
  runtime::Histogram& batch_size =
      metrics.histogram("penstock_gateway_batch_size", "Messages decided by one step of the store",
                        {1, 4, 16, 64, 256, 1'024, 4'096, 10'000});
  if (ports_.bus == nullptr) {
    return std::make_unique<OutboxPath>(options_.path,
                                        OutboxPorts{.quotas = ports_.quotas,
                                                    .clock = ports_.clock,
                                                    .wake = ports_.wake,
                                                    .context = ports_.context},
                                        tally_, batch_size);
  }
  PENSTOCK_CHECK(ports_.keys != nullptr);
  return std::make_unique<BusPath>(
      options_.path, options_.key_live,
      BusPorts{
          .gate = ports_.quotas, .keys = *ports_.keys, .bus = *ports_.bus, .clock = ports_.clock},
      tally_, batch_size, log_, metrics);
}

void GatewayService::stop() {
  retention_ticker_.stop();
  usage_ticker_.stop();
  path_->stop();
  readers_.stop();
  flush_usage();
}

// A bijection of a number that is never drawn twice: unique in this life, and among lives as far as
// their seeds are.
ItemId GatewayService::next_id(core::UserId user, Instant now) {
  const std::uint64_t number = drawn_.fetch_add(1, std::memory_order_relaxed);
  return core::make_message_id(now, user, mix64(options_.seed + number),
                               static_cast<std::uint16_t>(mix64(options_.seed)));
}

void GatewayService::send(std::vector<core::SendCall> calls,
                          std::move_only_function<void(Answers)> done) {
  if (calls.empty()) return done({});
  const Instant now = ports_.clock.now();
  if (attempts_) {
    done = [this, kept = attempts_->remember(calls),
            done = std::move(done)](Answers answers) mutable {
      attempts_->note(std::move(kept), answers, ports_.clock.now());
      done(std::move(answers));
    };
  }
  std::vector<NewMessage> messages;
  messages.reserve(calls.size());
  for (core::SendCall& call : calls) {
    ItemId id = next_id(call.user, now);
    const std::int64_t cost = core::cost_of(call.size, options_.cost);
    messages.push_back(
        {.call = std::move(call), .id = std::move(id), .cost = cost, .accepted = now});
  }
  path_->send(std::move(messages), std::move(done));
}

void GatewayService::put_config(core::UserId user, core::QuotaRule rule, std::string request_id,
                                Done<core::Quota> done) {
  readers_.read(std::move(done),
                [this, user, rule, request_id = std::move(request_id)]() -> Result<core::Quota> {
                  PENSTOCK_TRY(make_item_type());
                  Result<core::Quota> quota = ports_.quotas.put(user, rule, std::nullopt);
                  if (quota) {
                    log_.info("gateway.config_changed", {{"request_id", request_id},
                                                         {"user_id", user.raw},
                                                         {"rate_limit", rule.rate_limit},
                                                         {"window_minutes", rule.window.count()}});
                  }
                  return quota;
                });
}

Result<void> GatewayService::make_item_type() {
  if (type_is_there_) return {};
  const auto known = PENSTOCK_TRY(ports_.types.find(store::message_item_type()));
  if (!known) {
    core::ItemTypeSettings settings;
    settings.jitter_window = Millis{0};  // messages go at once, in the order in which they came
    const auto made = ports_.types.put(store::message_item_type(), 0, settings, std::nullopt);
    // A conflict: another node was faster.
    if (!made && made.error().kind != ErrorKind::conflict) return std::unexpected(made.error());
    if (made) log_.info("gateway.type_made", {{"item_type", "SMS"}, {"provider", "log"}});
  }
  type_is_there_ = true;
  return {};
}

void GatewayService::find_config(core::UserId user, Done<core::Quota> done) {
  readers_.read(std::move(done), [this, user]() -> Result<core::Quota> {
    const std::optional<core::Quota> quota = PENSTOCK_TRY(ports_.quotas.find(user));
    if (!quota) return std::unexpected(no_such_user(user));
    return *quota;
  });
}

void GatewayService::remove_config(core::UserId user, std::string request_id, Done<void> done) {
  readers_.read(
      std::move(done), [this, user, request_id = std::move(request_id)]() -> Result<void> {
        const bool removed = PENSTOCK_TRY(ports_.quotas.remove(user));
        if (!removed) return std::unexpected(no_such_user(user));
        log_.info("gateway.config_removed", {{"request_id", request_id}, {"user_id", user.raw}});
        return {};
      });
}

Result<MessageView> GatewayService::view(const ItemId& id) {
  const std::optional<core::UserId> user = core::user_of_message(id.str());
  if (!user) return std::unexpected(no_such_message(id));
  std::optional<store::ItemView> item =
      PENSTOCK_TRY(ports_.queue.find(store::message_item_type(), id));
  const Instant made = core::time_of_message(id.str());
  // Whoever was given this id has its message on the bus: items are forgotten later than that.
  const bool on_bus = !item && ports_.bus != nullptr && made <= ports_.clock.now() &&
                      made + options_.item_retention > ports_.clock.now();
  if (!item && !on_bus) return std::unexpected(no_such_message(id));
  const auto type = PENSTOCK_TRY(ports_.types.find(store::message_item_type()));
  MessageView view{.id = id, .user = *user, .on_bus = on_bus};
  if (on_bus) {
    view.item.created = made;
  } else {
    view.item = std::move(*item);
  }
  if (type) view.provider = type->settings.sink.kind;
  if (ports_.deliveries != nullptr) {
    const std::vector<core::DeliveryPart> parts = PENSTOCK_TRY(ports_.deliveries->find_parts(id));
    view.delivery = core::sum_up_delivery(parts);
  }
  return view;
}

void GatewayService::find_message(ItemId id, Done<MessageView> done) {
  readers_.read(std::move(done), [this, id = std::move(id)] { return view(id); });
}

void GatewayService::move_item(ItemMove move, std::string_view event, ItemId id,
                               std::string request_id, Done<MessageView> done) {
  readers_.read(std::move(done),
                [this, move, event, id = std::move(id),
                 request_id = std::move(request_id)]() -> Result<MessageView> {
                  const Result<MessageView> known = view(id);
                  if (!known) return known;
                  if (known->on_bus) {
                    return fail(ErrorKind::conflict,
                                "the message is PUBLISHED and not in the queue yet");
                  }
                  PENSTOCK_TRY((ports_.queue.*move)(store::message_item_type(), id, std::nullopt));
                  log_.info(event, {{"request_id", request_id}, {"message_id", id.str()}});
                  ports_.wake();
                  return view(id);
                });
}

void GatewayService::cancel_message(ItemId id, std::string request_id, Done<MessageView> done) {
  move_item(&store::QueueStore::cancel, "gateway.cancelled", std::move(id), std::move(request_id),
            std::move(done));
}

void GatewayService::redrive_message(ItemId id, std::string request_id, Done<MessageView> done) {
  move_item(&store::QueueStore::redrive, "gateway.redriven", std::move(id), std::move(request_id),
            std::move(done));
}

// What is gathered here counts too: a client sees its own attempt at once. What other nodes have
// gathered comes with their next write.
Result<UsageBuckets> GatewayService::add_up(core::UserId user, const UsageRange& range) {
  PENSTOCK_TRY(tally_.usage().flush());
  const auto minutes = static_cast<std::size_t>((range.to - range.from) / core::Minutes{1});
  const std::vector<store::UsagePoint> points =
      PENSTOCK_TRY(ports_.quotas.usage(user, range.from, range.to, minutes + 1));
  UsageBuckets buckets;
  for (const store::UsagePoint& point : points) {
    const auto since = point.minute.time_since_epoch();
    const Instant begin{since - since % std::chrono::duration_cast<Micros>(range.bucket)};
    if (buckets.empty() || buckets.back().minute != begin) {
      buckets.push_back({.minute = begin, .counts = {}});
    }
    buckets.back().counts += point.counts;
  }
  return buckets;
}

void GatewayService::usage(core::UserId user, UsageRange range, Done<UsageBuckets> done) {
  readers_.read<ReadCost::heavy>(std::move(done),
                                 [this, user, range] { return add_up(user, range); });
}

void GatewayService::top_limited(Instant from, Instant to, std::size_t limit,
                                 Done<std::vector<store::LimitedUser>> done) {
  readers_.read<ReadCost::heavy>(
      std::move(done), [this, from, to, limit]() -> Result<std::vector<store::LimitedUser>> {
        PENSTOCK_TRY(tally_.usage().flush());
        return ports_.quotas.top_limited(from, to, limit);
      });
}

void GatewayService::export_usage(Instant from, Instant to, std::optional<store::UsageMark> after,
                                  std::size_t limit, Done<std::vector<store::UserMinute>> done) {
  readers_.read<ReadCost::heavy>(
      std::move(done), [this, from, to, after, limit]() -> Result<std::vector<store::UserMinute>> {
        if (ports_.usage_export == nullptr) {
          return fail(ErrorKind::unavailable, "this store cannot show the usage of all users");
        }
        if (!after) {  // once for all pages
          PENSTOCK_TRY(tally_.usage().flush());
        }
        return ports_.usage_export->page(from, to, after, limit);
      });
}

void GatewayService::export_attempts(Instant from, Instant to,
                                     std::optional<store::AttemptMark> after, std::size_t limit,
                                     Done<std::vector<store::Attempt>> done) {
  readers_.read<ReadCost::heavy>(
      std::move(done), [this, from, to, after, limit]() -> Result<std::vector<store::Attempt>> {
        if (ports_.attempts == nullptr) {
          return fail(ErrorKind::unavailable, "this store keeps no attempts");
        }
        if (!after) {  // once for all pages
          PENSTOCK_TRY(flush());
        }
        return ports_.attempts->page(from, to, after, limit);
      });
}

Result<void> GatewayService::flush() {
  Result<void> flushed = tally_.usage().flush();
  if (flushed && attempts_) flushed = attempts_->flush();
  return flushed;
}

void GatewayService::flush_usage() {
  const Result<void> flushed = flush();
  if (flushed) {
    flush_failed_ = false;
  } else if (!flush_failed_.exchange(true)) {
    log_.warn("gateway.usage_not_written", {{"error", flushed.error().what}});
  }
}

void GatewayService::forget_old(const std::function<bool()>& should_stop) {
  const auto old = [&](Millis keep) {
    return store::older_than(ports_.retention_clock, ports_.clock, keep);
  };
  const Result<Instant> keys = old(core::kKeyTerm);
  const Result<Instant> usage = old(options_.usage_retention);
  while (!should_stop()) {
    const Result<store::QuotaSweep> sweep =
        !keys    ? std::unexpected(keys.error())
        : !usage ? std::unexpected(usage.error())
                 : ports_.quotas.forget(*keys, *usage, kForgetMessages);
    if (!sweep) {
      log_.warn("gateway.forget_failed", {{"error", sweep.error().what}});
      return;
    }
    if (!sweep->more && !forget_attempts(*usage)) return;
  }
}

// Also when none are kept any more: there may be some of before. Whether there are more.
bool GatewayService::forget_attempts(Instant before) {
  if (ports_.attempts == nullptr) return false;
  const Result<std::size_t> gone = ports_.attempts->forget_attempts(before, kForgetMessages);
  if (!gone) log_.warn("gateway.forget_failed", {{"error", gone.error().what}});
  return gone && *gone == kForgetMessages;
}

}  // namespace penstock::service
