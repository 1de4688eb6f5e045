// The use cases of the gateway: configs of users, messages to send, what became of them, and usage.
// Calls return at once; the answer comes to `done` on one of the service's own threads, exactly
// once. A full queue answers `overloaded` on the calling thread. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "core/gateway/message.h"
#include "runtime/batcher.h"
#include "runtime/metrics.h"
#include "runtime/task_queue.h"
#include "runtime/ticker.h"
#include "service/gateway/usage_log.h"
#include "store/delivery_store.h"
#include "store/item_type_store.h"
#include "store/queue_store.h"
#include "store/quota_store.h"
#include "store/usage_export.h"

namespace penstock::service {

struct GatewayOptions {
  core::MessageCost cost = core::MessageCost::message;
  std::size_t queue_max = 65'536;  // messages waiting to be written
  std::size_t batch_max = 4'096;   // messages in one write
  std::size_t writers = 1;         // batches in flight; more than one only helps a shared store
  std::size_t join_min = 64;  // messages that make another batch in flight worth its round trip
  Millis usage_retention = std::chrono::days{30};
  Millis usage_interval = Seconds{1};  // between two writes of what was refused
  Millis retention_interval = std::chrono::minutes{1};
  std::uint64_t seed = 0;  // of message ids; another one in every life of every node
};

// All must outlive the service. `wake` is told that there is something to send.
struct GatewayPorts {
  store::QuotaStore& quotas;
  store::QueueStore& queue;
  store::ItemTypeStore& types;
  const Clock& clock;
  std::function<void()> wake;
  // How a message is written down for its provider: wire::encode_message_context.
  std::string (*context)(const core::SendCall&, const ItemId&, Instant accepted) = nullptr;
  store::DeliveryStore* deliveries = nullptr;  // null = nobody keeps what providers say
  store::UsageExport* usage_export = nullptr;  // null = usage is shown by user alone
};

struct MessageView {
  ItemId id;
  core::UserId user;
  core::SinkType provider = core::SinkType::log;  // as it is set now
  store::ItemView item;
  std::optional<core::Delivery> delivery;  // none = the provider says nothing of it
};

// One user's minutes, added up: [at, at + bucket).
using UsageBuckets = std::vector<store::UsagePoint>;

struct UsageRange {
  Instant from{};
  Instant to{};
  Millis bucket = std::chrono::minutes{1};  // whole minutes
};

// Points of one answer: a week of minutes.
inline constexpr std::size_t kUsagePointsMax = 10'080;

class GatewayService {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;
  using Answers = std::vector<Result<store::Sent>>;

  GatewayService(GatewayOptions options, GatewayPorts ports, Log& log, runtime::Metrics& metrics);
  ~GatewayService() { stop(); }

  void put_config(core::UserId user, core::QuotaRule rule, std::string request_id,
                  Done<core::Quota> done);
  void find_config(core::UserId user, Done<core::Quota> done);
  void remove_config(core::UserId user, std::string request_id, Done<void> done);

  // One answer per call, in order; an empty list of calls is answered at once.
  void send(std::vector<core::SendCall> calls, std::move_only_function<void(Answers)> done);

  void find_message(ItemId id, Done<MessageView> done);
  void usage(core::UserId user, UsageRange range, Done<UsageBuckets> done);
  void top_limited(Instant from, Instant to, std::size_t limit,
                   Done<std::vector<store::LimitedUser>> done);

  // What all users did in [from, to), by minute and user, behind `after`; at most `limit`.
  void export_usage(Instant from, Instant to, std::optional<store::UsageMark> after,
                    std::size_t limit, Done<std::vector<store::UserMinute>> done);

  // Finishes what was taken; later calls are answered `overloaded`. Idempotent.
  void stop();

 private:
  struct Counters {
    explicit Counters(runtime::Metrics& metrics);
    runtime::Counter& sent;
    runtime::Counter& repeated;
    runtime::Counter& limited;
    runtime::Counter& conflict;
    runtime::Counter& unknown_user;
    runtime::Counter& failed;
  };

  // The first config makes the type of messages when nobody has, with the log as its provider: a
  // daemon that is no gateway leaves the item types alone.
  Result<void> make_item_type();
  ItemId next_id(core::UserId user, Instant now);
  Answers execute(std::span<store::Send> sends);
  void count(const store::Send& send, const Result<store::Sent>& answer, Instant now);
  Result<MessageView> view(const ItemId& id);
  Result<UsageBuckets> add_up(core::UserId user, const UsageRange& range);
  void flush_usage();
  void forget_old(const std::function<bool()>& should_stop);
  template <class T, class Work>
  void read(Done<T> done, Work work);

  const GatewayOptions options_;
  GatewayPorts ports_;
  Log& log_;
  Counters counters_;
  runtime::Counter& uncounted_;
  runtime::Histogram& batch_size_;
  std::atomic<std::uint64_t> drawn_{0};
  UsageLog usage_;
  std::atomic<bool> flush_failed_{false};
  std::atomic<bool> type_is_there_{false};  // types are never taken away
  runtime::TaskQueue readers_;
  runtime::Batcher<store::Send, Result<store::Sent>> batcher_;
  runtime::Ticker usage_ticker_;  // last: their threads use all of the above
  runtime::Ticker retention_ticker_;
};

}  // namespace penstock::service
