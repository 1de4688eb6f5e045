#include "engine/kafka/consumer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/kafka/handle.h"
#include "runtime/connection_health.h"
#include "runtime/threads.h"

namespace penstock::kafka {
namespace {

constexpr int kBusyPollMillis = 5;  // while handlers may answer
// A batch that cannot be taken now is tried again after this, doubled up to that.
constexpr Millis kRetryMin{100};
constexpr Millis kRetryMax{5'000};
constexpr std::chrono::milliseconds kStopLook{100};
constexpr std::size_t kReasonBytesMax = 500;
// A message is held as it came, decoded, and in the store's write.
constexpr std::size_t kMessageFactor = 3;
// Beside its text: librdkafka's record, its place in batches.
constexpr std::size_t kMessageBytes = 256;
// Of one batch; a batch is a thousand usual messages or some of the largest.
constexpr std::size_t kBatchBytesMax = std::size_t{8} << 20;
// With less room than this, what is under way goes first.
constexpr std::size_t kBatchBytesMin = std::size_t{64} << 10;

// What librdkafka fetches ahead: a part of the budget, within what a fetch must and need not have.
std::size_t prefetch_bytes(const runtime::MemoryBudget& memory) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  return std::clamp(memory.max() / 64, kMiB, 16 * kMiB);
}

std::size_t bytes_of(const rd_kafka_message_t& message) {
  return kMessageBytes + message.len + message.key_len;
}

std::string_view text_of(const void* bytes, std::size_t size) {
  return bytes == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(bytes), size);
}

// Its headers in their order; valid as long as the message.
std::vector<std::pair<std::string_view, std::string_view>> headers_of(
    const rd_kafka_message_t& message) {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return out;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    out.emplace_back(name, text_of(value, size));
  }
  return out;
}

IncomingMessage incoming(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type{};
  const std::int64_t written = rd_kafka_message_timestamp(&message, &type);
  return {.key = text_of(message.key, message.key_len),
          .value = text_of(message.payload, message.len),
          .topic = rd_kafka_topic_name(message.rkt),
          .partition = message.partition,
          .offset = message.offset,
          .written = from_epoch_millis(std::max<std::int64_t>(written, 0)),
          .headers = headers_of(message)};
}

}  // namespace

class Consumer::Impl {
 public:
  Impl(const Clock& clock, Log& log, runtime::Metrics& metrics, runtime::MemoryBudget& memory,
       Producer& dead_letters, ConsumerOptions&& options, std::map<std::string, Handler>&& handlers)
      : clock_(clock),
        log_(log),
        memory_(memory),
        dead_letters_(dead_letters),
        options_(std::move(options)),
        prefetched_(memory),
        charge_(memory) {
    for (auto& [name, handler] : handlers) {
      const auto counter = [&](const char* result) {
        return &metrics.counter("penstock_kafka_intake_messages_total",
                                "Messages of an intake topic, by what became of them",
                                {{"topic", name}, {"result", result}});
      };
      topics_.emplace(name, Topic{std::move(handler), counter("ok"), counter("poison")});
    }
  }

  ~Impl() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    // Commits what was stored, and tells the group that this member is gone.
    if (handle_) rd_kafka_consumer_close(handle_.get());
  }

  Result<void> start() {
    const std::size_t ahead = prefetch_bytes(memory_);
    // A fetch that is under way beside what waits.
    prefetched_.force(2 * ahead);
    // An offset is stored by hand, once its message is durable elsewhere; what is stored is
    // committed in the background, on a rebalance and at the end.
    Conf conf = PENSTOCK_TRY(make_conf(
        options_.connection,
        {{"group.id", options_.group},
         {"auto.offset.reset", "earliest"},
         {"session.timeout.ms", std::to_string(options_.session_timeout.count())},
         {"heartbeat.interval.ms", std::to_string(options_.session_timeout.count() / 3)},
         {"enable.auto.offset.store", "false"},
         {"enable.auto.commit", "true"},
         {"auto.commit.interval.ms", "500"},
         // A topic that is made after the subscription is found by this.
         {"topic.metadata.refresh.interval.ms", "10000"},
         // Bounds what waits in memory, and what one fetch brings: a message that is
         // larger comes alone. message.max.bytes is the least that fetch.max.bytes may be.
         {"queued.max.messages.kbytes", std::to_string(ahead / 1024)},
         {"message.max.bytes", std::to_string(ahead)},
         {"fetch.max.bytes", std::to_string(ahead)},
         {"fetch.message.max.bytes", std::to_string(std::min(ahead, kBatchBytesMax))},
         // A broker that answers as soon as there is one message is asked once for each;
         // so little delay makes batches of them, there and in the store.
         {"fetch.min.bytes", "65536"},
         {"fetch.wait.max.ms", "20"}}));
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_rebalance_cb(conf.get(), on_rebalance);
    handle_ = PENSTOCK_TRY(make_handle(RD_KAFKA_CONSUMER, std::move(conf)));
    rd_kafka_poll_set_consumer(handle_.get());
    const Partitions wanted(rd_kafka_topic_partition_list_new(static_cast<int>(topics_.size())));
    for (const auto& [name, topic] : topics_) {
      rd_kafka_topic_partition_list_add(wanted.get(), name.c_str(), RD_KAFKA_PARTITION_UA);
    }
    if (const auto error = rd_kafka_subscribe(handle_.get(), wanted.get());
        error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return fail(ErrorKind::invalid, rd_kafka_err2str(error));
    }
    health_.on_probe(std::nullopt);  // the producer has the probe
    thread_ = std::thread([this] { run(); });
    return {};
  }

  Result<void> health() const {
    // Its own connection goes to the same brokers.
    PENSTOCK_TRY(dead_letters_.health());
    const Result<void> good = health_.check(clock_.now());
    if (good) return good;
    return fail(good.error().kind, "messages wait: " + good.error().what);
  }

 private:
  struct Topic {
    Handler handler;
    runtime::Counter* ok;
    runtime::Counter* poison;
  };
  // In the order of arrival: of a partition that is the order of its offsets.
  using Batch = std::vector<MessagePtr>;
  // A batch that the handlers have, each its part of it.
  struct UnderWay {
    struct Part {
      std::vector<std::size_t> places;  // in the batch
      std::future<std::vector<Verdict>> verdicts;
    };
    Batch batch;
    std::vector<Part> parts;
    std::size_t bytes = 0;  // of the batch

    bool is_ready() const { return wait(std::chrono::milliseconds(0)); }
    bool wait(std::chrono::milliseconds span) const {
      return std::ranges::all_of(parts, [&](const Part& part) {
        return part.verdicts.wait_for(span) == std::future_status::ready;
      });
    }
  };

  void run() {
    runtime::set_thread_name("kafka-intake");
    while (!stopping_) {
      // What is held is tried again alone, so that nothing of its partitions passes it.
      const bool due = !held_.empty() && clock_.now() >= retry_at_;
      if (due && under_way_.empty()) {
        repeating_ = true;
        begin(std::exchange(held_, {}));
      }
      const bool room =
          !due && !repeating_ && under_way_.size() < options_.batches_max && has_memory();
      if (room) fill();
      if (!under_way_.empty() && !room) under_way_.front().wait(kStopLook);
      while (!under_way_.empty() && under_way_.front().is_ready()) {
        settle_front();
        charge();
      }
    }
    while (!under_way_.empty()) {
      wait_for_front();
      settle_front();
    }
  }

  // With nothing under way one message is taken even without room: the intake goes on, whoever
  // holds the memory, and this member keeps its place in the group.
  bool has_memory() const {
    return under_way_.empty() || memory_.available() >= kMessageFactor * kBatchBytesMin;
  }

  void charge() {
    std::size_t bytes = 0;
    for (const UnderWay& one : under_way_) bytes += one.bytes;
    for (const MessagePtr& each : held_) bytes += bytes_of(*each);
    charge_.force(kMessageFactor * bytes);
  }

  // The store's deadline bounds it.
  void wait_for_front() {
    while (!under_way_.front().wait(kStopLook)) {
    }
  }

  // Takes what is there, up to a batch, and hands it to the handlers. Waits for the first message,
  // but shortly when answers of others may come meanwhile.
  void fill() {
    Batch batch;
    const int millis = under_way_.empty() ? kPollMillis : kBusyPollMillis;
    const std::size_t bytes_max =
        std::min({kBatchBytesMax, prefetch_bytes(memory_), memory_.available() / kMessageFactor});
    std::size_t bytes = 0;
    while (batch.size() < options_.batch_max && (batch.empty() || bytes < bytes_max)) {
      MessagePtr message = poll(batch.empty() ? millis : 0);
      if (std::exchange(rebalanced_, false)) {
        batch.clear();
        bytes = 0;
        forget_all();
      }
      if (!message) break;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        bytes += bytes_of(*message);
        batch.push_back(std::move(message));
      } else if (message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        note(rd_kafka_message_errstr(message.get()));
        break;
      }
    }
    if (!batch.empty()) begin(std::move(batch));
  }

  MessagePtr poll(int millis) { return MessagePtr(rd_kafka_consumer_poll(handle_.get(), millis)); }

  // Whose partitions these are now is unknown; they come again to whom they belong.
  void forget_all() {
    while (!under_way_.empty()) {
      wait_for_front();  // the handlers look at the messages until then
      under_way_.pop_front();
    }
    held_.clear();
    repeating_ = false;
    charge();
    resume();
  }

  // What is held keeps its partitions waiting, and no others; the group goes on being asked, so
  // this member keeps its place in it.
  void pause_what_is_held() {
    if (paused_) rd_kafka_resume_partitions(handle_.get(), paused_.get());  // some may be done
    paused_.reset(rd_kafka_topic_partition_list_new(8));
    for (const MessagePtr& each : held_) {
      const char* const topic = rd_kafka_topic_name(each->rkt);
      if (rd_kafka_topic_partition_list_find(paused_.get(), topic, each->partition) == nullptr) {
        rd_kafka_topic_partition_list_add(paused_.get(), topic, each->partition);
      }
    }
    rd_kafka_pause_partitions(handle_.get(), paused_.get());
  }
  void resume() {
    if (paused_) rd_kafka_resume_partitions(handle_.get(), paused_.get());
    paused_.reset();
    pause_ = kRetryMin;
  }

  void begin(Batch&& batch) {
    UnderWay& one = under_way_.emplace_back(UnderWay{.batch = std::move(batch), .parts = {}});
    for (const MessagePtr& each : one.batch) one.bytes += bytes_of(*each);
    charge();
    for (const auto& [name, topic] : topics_) {
      std::vector<IncomingMessage> messages;
      UnderWay::Part part;
      for (std::size_t i = 0; i < one.batch.size(); ++i) {
        const rd_kafka_message_t& message = *one.batch[i];
        if (name != rd_kafka_topic_name(message.rkt)) continue;
        messages.push_back(incoming(message));
        part.places.push_back(i);
      }
      if (messages.empty()) continue;
      part.verdicts = topic.handler(messages);
      one.parts.push_back(std::move(part));
    }
  }

  // Of the oldest batch, which is ready: moves offsets behind what has been answered for, and holds
  // the rest.
  void settle_front() {
    UnderWay one = std::move(under_way_.front());
    under_way_.pop_front();
    const Batch& batch = one.batch;
    std::vector<Verdict> verdicts(batch.size());
    for (UnderWay::Part& part : one.parts) {
      std::vector<Verdict> given = part.verdicts.get();
      for (std::size_t i = 0; i < part.places.size(); ++i) {
        verdicts[part.places[i]] = std::move(given[i]);
      }
    }
    hold_what_is_behind(batch, verdicts);
    bury(batch, verdicts);
    hold_what_is_behind(batch, verdicts);
    std::string trouble;
    const Partitions done(rd_kafka_topic_partition_list_new(8));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const rd_kafka_message_t& message = *batch[i];
      if (verdicts[i].kind == Verdict::Kind::retry) {
        if (trouble.empty()) trouble = verdicts[i].reason;
        held_.push_back(std::move(one.batch[i]));
        continue;
      }
      const char* const topic = rd_kafka_topic_name(message.rkt);
      const Topic& of = topics_.at(topic);
      (verdicts[i].kind == Verdict::Kind::ok ? of.ok : of.poison)->add();
      auto* place = rd_kafka_topic_partition_list_find(done.get(), topic, message.partition);
      if (place == nullptr) {
        place = rd_kafka_topic_partition_list_add(done.get(), topic, message.partition);
      }
      place->offset = message.offset + 1;
    }
    // Refused only for partitions that have gone to another member, which will do them again.
    if (done->cnt > 0) rd_kafka_offsets_store(handle_.get(), done.get());
    const bool repeated = std::exchange(repeating_, false);
    if (held_.empty()) {
      resume();
      return health_.on_success();
    }
    const bool first = paused_ == nullptr;
    pause_what_is_held();
    if (!trouble.empty()) health_.on_trouble(trouble, false, clock_.now());
    if (first) log_.warn("kafka.intake_waits", {{"error", trouble}});
    if (!first && !repeated) return;  // it waits with what was held before
    retry_at_ = clock_.now() + pause_;
    pause_ = std::min(pause_ * 2, kRetryMax);
  }

  // An offset has no gaps: what is behind a held message of its partition is held with it, whatever
  // became of it.
  void hold_what_is_behind(const Batch& batch, std::vector<Verdict>& verdicts) const {
    using Place = std::pair<const rd_kafka_topic_t*, std::int32_t>;
    std::map<Place, const std::string*> stopped;  // with the reason
    static const std::string before;              // told already
    for (const MessagePtr& each : held_) stopped[{each->rkt, each->partition}] = &before;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Place place{batch[i]->rkt, batch[i]->partition};
      if (const auto found = stopped.find(place); found != stopped.end()) {
        if (verdicts[i].kind == Verdict::Kind::retry) continue;
        verdicts[i] = {.kind = Verdict::Kind::retry, .reason = *found->second};
      } else if (verdicts[i].kind == Verdict::Kind::retry) {
        stopped.emplace(place, &verdicts[i].reason);
      }
    }
  }

  // Sends the poison to the dead-letter topics and waits until it is there. What does not arrive is
  // held.
  void bury(const Batch& batch, std::vector<Verdict>& verdicts) {
    std::vector<std::pair<std::size_t, std::future<DeliveryReport>>> sent;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (verdicts[i].kind != Verdict::Kind::poison) continue;
      auto told = std::make_shared<std::promise<DeliveryReport>>();
      sent.emplace_back(i, told->get_future());
      dead_letters_.send(dead_letter(*batch[i], verdicts[i].reason),
                         [told](DeliveryReport report) { told->set_value(std::move(report)); });
    }
    for (auto& [i, told] : sent) {
      // Within the producer's own time-out, which a stop does not wait for.
      while (!stopping_ && told.wait_for(kStopLook) != std::future_status::ready) {
      }
      const bool there = told.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
      const DeliveryReport report =
          there ? told.get() : DeliveryReport{Delivery::not_now, "stopped"};
      if (report.delivery == Delivery::done) {
        log_.warn("kafka.intake_poison", {{"topic", rd_kafka_topic_name(batch[i]->rkt)},
                                          {"partition", batch[i]->partition},
                                          {"offset", batch[i]->offset},
                                          {"error", verdicts[i].reason}});
        continue;
      }
      verdicts[i] = {.kind = Verdict::Kind::retry,
                     .reason = "a dead letter cannot be written: " + report.detail};
    }
  }

  OutgoingMessage dead_letter(const rd_kafka_message_t& message, const std::string& reason) const {
    const char* const topic = rd_kafka_topic_name(message.rkt);
    OutgoingMessage letter{.topic = topic + options_.dead_letter_suffix,
                           .key = std::string(text_of(message.key, message.key_len)),
                           .value = std::string(text_of(message.payload, message.len)),
                           .headers = {{"penstock-error", reason.substr(0, kReasonBytesMax)},
                                       {"penstock-topic", topic},
                                       {"penstock-partition", std::to_string(message.partition)},
                                       {"penstock-offset", std::to_string(message.offset)}}};
    for (const auto& [name, value] : headers_of(message)) {
      letter.headers.emplace_back(name, std::string(value));
    }
    return letter;
  }

  // On the thread of run(), from within a poll, or of the destructor's close.
  static void on_rebalance(rd_kafka_t* handle, rd_kafka_resp_err_t error,
                           rd_kafka_topic_partition_list_t* partitions, void* opaque) {
    Impl& self = *static_cast<Impl*>(opaque);
    self.rebalanced_ = true;
    if (error == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
      rd_kafka_assign(handle, partitions);
      self.log_.info("kafka.intake_assigned", {{"partitions", partitions->cnt}});
      return;
    }
    // What is stored is committed before another member begins there; when that fails, it does some
    // of it again.
    rd_kafka_commit(handle, nullptr, 0);
    rd_kafka_assign(handle, nullptr);
  }

  void note(const std::string& what) {
    log_.warn("kafka.intake_trouble", {{"error", what}});
    health_.on_trouble(what, false, clock_.now());
  }

  const Clock& clock_;
  Log& log_;
  runtime::MemoryBudget& memory_;
  Producer& dead_letters_;
  const ConsumerOptions options_;
  std::map<std::string, Topic> topics_;
  runtime::ConnectionHealth health_;
  runtime::Charge prefetched_;  // for what librdkafka holds
  Handle handle_;
  // Of the thread.
  runtime::Charge charge_;          // for what is under way or held
  std::deque<UnderWay> under_way_;  // the oldest first
  Batch held_;                      // what could not be taken, and all behind it
  bool repeating_ = false;          // what was held is under way again
  Partitions paused_;               // while something is held or repeated; else null
  Millis pause_ = kRetryMin;        // before the next repeat
  Instant retry_at_{};
  bool rebalanced_ = false;
  std::atomic<bool> stopping_{false};
  std::thread thread_;  // last: it uses all of the above
};

Consumer::Consumer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Consumer::~Consumer() = default;

Result<std::unique_ptr<Consumer>> Consumer::make(const Clock& clock, Log& log,
                                                 runtime::Metrics& metrics,
                                                 runtime::MemoryBudget& memory,
                                                 Producer& dead_letters, ConsumerOptions options,
                                                 std::map<std::string, Handler> handlers) {
  auto impl = std::make_unique<Impl>(clock, log, metrics, memory, dead_letters, std::move(options),
                                     std::move(handlers));
  PENSTOCK_TRY(impl->start());
  return std::unique_ptr<Consumer>(new Consumer(std::move(impl)));
}

Result<void> Consumer::health() const { return impl_->health(); }

}  // namespace penstock::kafka
