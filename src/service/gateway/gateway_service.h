// The use cases of the gateway: configs of users, messages to send, what became of them, and usage.
// Calls return at once; the answer comes to `done` on one of the service's own threads, exactly
// once. A full queue answers `overloaded` on the calling thread. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
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
#include "core/gateway/message.h"
#include "runtime/metrics.h"
#include "runtime/threads.h"
#include "service/gateway/send_path.h"
#include "service/gateway/send_tally.h"
#include "service/reads.h"
#include "sink/message_bus.h"
#include "store/queue/ports.h"
#include "store/quota/ports.h"
#include "store/retention_clock.h"

namespace penstock::service {

struct GatewayOptions {
  core::MessageCost cost = core::MessageCost::message;
  SendPathOptions path;
  // Of a bus outside of the store: a claim of a key that is older belongs to no request.
  Millis key_live = Seconds{7};
  // Items are known at least so long: a message that is younger and no item yet is on the bus.
  Millis item_retention = std::chrono::days{90};
  core::AttemptDetail attempts = core::AttemptDetail::counts;
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
  store::AttemptStore* attempts = nullptr;     // null = there are counts alone
  // A bus outside of the store, and the keys of what is sent by it; null = the outbox.
  sink::MessageBus* bus = nullptr;
  store::SendKeys* keys = nullptr;
  store::RetentionClock* retention_clock = nullptr;  // null = by `clock` alone
};

struct MessageView {
  ItemId id;
  core::UserId user;
  std::string provider = "log";  // the kind of sink, as it is set now
  bool on_bus = false;           // no item yet: only `created` of it is known
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
  using Answers = SendPath::Answers;

  GatewayService(GatewayOptions options, GatewayPorts ports, Log& log, runtime::Metrics& metrics);
  ~GatewayService() { stop(); }

  void put_config(core::UserId user, core::QuotaRule rule, std::string request_id,
                  Done<core::Quota> done);
  void find_config(core::UserId user, Done<core::Quota> done);
  void remove_config(core::UserId user, std::string request_id, Done<void> done);

  // One answer per call, in order; an empty list of calls is answered at once.
  void send(std::vector<core::SendCall> calls, std::move_only_function<void(Answers)> done);

  void find_message(ItemId id, Done<MessageView> done);
  // Takes a waiting message out of the queue, or tries one again that the queue gave up, without
  // charging its user again; `conflict` when it does not stand there.
  void cancel_message(ItemId id, std::string request_id, Done<MessageView> done);
  void redrive_message(ItemId id, std::string request_id, Done<MessageView> done);
  void usage(core::UserId user, UsageRange range, Done<UsageBuckets> done);
  void top_limited(Instant from, Instant to, std::size_t limit,
                   Done<std::vector<store::LimitedUser>> done);

  // What all users did in [from, to), by minute and user, behind `after`; at most `limit`.
  void export_usage(Instant from, Instant to, std::optional<store::UsageMark> after,
                    std::size_t limit, Done<std::vector<store::UserMinute>> done);
  // Attempts of all users in [from, to) behind `after`; at most `limit`. None are kept unless the
  // options say so.
  void export_attempts(Instant from, Instant to, std::optional<store::AttemptMark> after,
                       std::size_t limit, Done<std::vector<store::Attempt>> done);
  // Makes the type of messages when nobody has, with the log as its provider. Blocks. The first
  // config does it, or the first message that another producer puts on the bus: a daemon that is no
  // gateway leaves the item types alone.
  Result<void> make_item_type();

  // Finishes what was taken; later calls are answered `overloaded`. Idempotent.
  void stop();

 private:
  std::unique_ptr<SendPath> make_path(runtime::Metrics& metrics);
  ItemId next_id(core::UserId user, Instant now);
  Result<MessageView> view(const ItemId& id);
  using ItemMove = Result<store::ItemView> (store::QueueStore::*)(const ItemType&, const ItemId&,
                                                                  std::optional<Instant>);
  void move_item(ItemMove move, std::string_view event, ItemId id, std::string request_id,
                 Done<MessageView> done);
  Result<UsageBuckets> add_up(core::UserId user, const UsageRange& range);
  Result<void> flush();
  void flush_usage();
  bool forget_attempts(Instant before);
  void forget_old(const std::function<bool()>& should_stop);

  const GatewayOptions options_;
  GatewayPorts ports_;
  Log& log_;
  SendTally tally_;
  std::optional<AttemptLog> attempts_;  // none = counts alone
  std::atomic<std::uint64_t> drawn_{0};
  std::atomic<bool> flush_failed_{false};
  std::atomic<bool> type_is_there_{false};  // types are never taken away
  Readers readers_;
  std::unique_ptr<SendPath> path_;
  runtime::Ticker usage_ticker_;  // last: their threads use all of the above
  runtime::Ticker retention_ticker_;
};

}  // namespace penstock::service
