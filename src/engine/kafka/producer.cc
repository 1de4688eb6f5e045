#include "engine/kafka/producer.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>

#include "engine/kafka/handle.h"
#include "runtime/connection_health.h"
#include "runtime/threads.h"

namespace penstock::kafka {
namespace {

constexpr int kProbeMillis = 1'000;
// A broker that makes a topic waits this long for the others to know it.
constexpr int kMakeTopicMillis = 5'000;
// How long a new producer is not made again after one could not be.
constexpr std::chrono::seconds kRemakePause{1};

Delivery delivery_of(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
      return Delivery::done;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
      return Delivery::never;
    default:
      // Brokers, topics and rights: none of it is the message's fault.
      return Delivery::not_now;
  }
}

struct TopicDeleter {
  void operator()(rd_kafka_NewTopic_t* topic) const noexcept { rd_kafka_NewTopic_destroy(topic); }
};
struct AdminOptionsDeleter {
  void operator()(rd_kafka_AdminOptions_t* options) const noexcept {
    rd_kafka_AdminOptions_destroy(options);
  }
};
struct QueueDeleter {
  void operator()(rd_kafka_queue_t* queue) const noexcept { rd_kafka_queue_destroy(queue); }
};
struct EventDeleter {
  void operator()(rd_kafka_event_t* event) const noexcept { rd_kafka_event_destroy(event); }
};

// Nothing when the topic is there; else why it could not be made. Blocks for some seconds.
std::optional<std::string> make_topic(rd_kafka_t* handle, const NewTopic& wanted) {
  std::array<char, 512> why{};
  constexpr int kDefaultReplicas = -1;
  const std::unique_ptr<rd_kafka_NewTopic_t, TopicDeleter> topic(rd_kafka_NewTopic_new(
      wanted.name.c_str(), wanted.partitions, kDefaultReplicas, why.data(), why.size()));
  if (!topic) return why.data();
  const std::unique_ptr<rd_kafka_AdminOptions_t, AdminOptionsDeleter> options(
      rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS));
  if (rd_kafka_AdminOptions_set_request_timeout(options.get(), kMakeTopicMillis, why.data(),
                                                why.size()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return why.data();
  }
  const std::unique_ptr<rd_kafka_queue_t, QueueDeleter> answers(rd_kafka_queue_new(handle));
  rd_kafka_NewTopic_t* topics[] = {topic.get()};
  rd_kafka_CreateTopics(handle, topics, 1, options.get(), answers.get());
  const std::unique_ptr<rd_kafka_event_t, EventDeleter> answer(
      rd_kafka_queue_poll(answers.get(), 2 * kMakeTopicMillis));
  const std::string what = "the topic " + wanted.name + " cannot be made: ";
  if (!answer) return what + "no answer";
  if (rd_kafka_event_error(answer.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return what + rd_kafka_event_error_string(answer.get());
  }
  std::size_t count = 0;
  const rd_kafka_topic_result_t** const results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(answer.get()), &count);
  for (std::size_t i = 0; i < count; ++i) {
    const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[i]);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
      continue;
    }
    const char* const said = rd_kafka_topic_result_error_string(results[i]);
    return what + (said != nullptr ? said : rd_kafka_err2str(error));
  }
  return {};
}

}  // namespace

class Producer::Impl {
 public:
  Impl(const Clock& clock, Log& log, ProducerOptions&& options)
      : clock_(clock), log_(log), options_(std::move(options)) {}

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      wake_.notify_all();
    }
    if (prober_.joinable()) prober_.join();
    if (poller_.joinable()) poller_.join();
    if (handle_) drop();
  }

  Result<void> start() {
    handle_ = PENSTOCK_TRY(make());
    poller_ = std::thread([this] { poll(); });
    prober_ = std::thread([this] { probe(); });
    return {};
  }

  void send(OutgoingMessage&& message, Done&& done) {
    if (const Result<void> known = health_.check_probe(); !known) {
      return done(not_now(known.error().what));
    }
    auto call = std::make_unique<Call>(Call{*this, std::move(done), produce_requests_.load()});
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    {
      const std::shared_lock lock(handle_mutex_);
      error = produce(std::move(message), *call);
    }
    // The report has it; it may be gone already.
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return (void)call.release();
    const Delivery delivery = delivery_of(error);
    call->done(
        delivery == Delivery::never
            ? DeliveryReport{.delivery = delivery, .detail = rd_kafka_err2str(error), .lost = true}
            : not_now(rd_kafka_err2str(error)));
  }

  void wait_for_probe(Millis at_most) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(at_most.count()), [&] { return probed_; });
  }

  Result<void> health() const {
    Result<void> good = health_.check(clock_.now());
    if (good) return good;
    return fail(good.error().kind,
                fmt::format("Kafka at {}: {}", options_.connection.brokers, good.error().what));
  }

 private:
  struct Call {
    Impl& producer;
    Done done;
    std::uint64_t requests_before;  // of produce_requests_
  };

  Result<Handle> make() {
    Conf conf = PENSTOCK_TRY(make_conf(
        options_.connection,
        {{"enable.idempotence", "true"},  // and with it acks=all
         {"message.timeout.ms", std::to_string(options_.message_timeout.count())},
         // Enough for a batch to form, and less than a turn in a pace may blur.
         {"linger.ms", "1"},
         // What waits here is under way for dispatch, which has its own bound on their number.
         {"queue.buffering.max.kbytes", "65536"},
         {"queue.buffering.max.messages", "100000"}}));
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_dr_msg_cb(conf.get(), on_report);
    rd_kafka_conf_set_error_cb(conf.get(), on_error);
    return make_watched_handle(RD_KAFKA_PRODUCER, std::move(conf), on_request_sent, this);
  }

  rd_kafka_resp_err_t produce(OutgoingMessage&& message, Call& call) {
    if (!handle_) return RD_KAFKA_RESP_ERR__STATE;
    rd_kafka_headers_t* const headers = rd_kafka_headers_new(message.headers.size());
    for (const auto& [name, value] : message.headers) {
      rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                          static_cast<ssize_t>(value.size()));
    }
    const rd_kafka_resp_err_t error = rd_kafka_producev(
        handle_.get(), RD_KAFKA_V_TOPIC(message.topic.c_str()),
        RD_KAFKA_V_KEY(message.key.data(), message.key.size()),
        RD_KAFKA_V_VALUE(message.value.data(), message.value.size()), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(&call), RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_headers_destroy(headers);
    return error;
  }

  // Of what librdkafka was never given.
  DeliveryReport not_now(std::string detail) {
    const Millis away = health_.on_trouble(detail, true, clock_.now());
    return {.delivery = Delivery::not_now, .detail = std::move(detail), .away = away, .lost = true};
  }

  static void on_report(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    const std::unique_ptr<Call> call(static_cast<Call*>(message->_private));
    call->done(call->producer.judge(*message, *call));
  }

  // librdkafka takes "not the leader" for "not written", and sends again until the time is up. A
  // broker that gives its partitions up says so of what it has written a moment before: certain is
  // only what a broker refused for good (codes above 0), and what no request can have held.
  bool is_lost(const rd_kafka_message_t& message, const Call& call) const {
    return rd_kafka_message_status(&message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED &&
           (message.err > 0 || call.requests_before == produce_requests_.load());
  }

  static rd_kafka_resp_err_t on_request_sent(rd_kafka_t*, int, const char*, std::int32_t,
                                             std::int16_t api_key, std::int16_t, std::int32_t,
                                             std::size_t, void* self) {
    constexpr std::int16_t kProduce = 0;
    if (api_key == kProduce) ++static_cast<Impl*>(self)->produce_requests_;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  }

  DeliveryReport judge(const rd_kafka_message_t& message, const Call& call) {
    const bool lost = is_lost(message, call);
    switch (const Delivery delivery = delivery_of(message.err)) {
      case Delivery::done:
        health_.on_success();
        return {.detail = fmt::format("partition {} offset {}", message.partition, message.offset)};
      case Delivery::never:
        return {.delivery = delivery, .detail = rd_kafka_err2str(message.err), .lost = lost};
      case Delivery::not_now:
        break;
    }
    const bool connection = message.err == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT ||
                            message.err == RD_KAFKA_RESP_ERR__TRANSPORT;
    std::string what = rd_kafka_err2str(message.err);
    const Millis away = health_.on_trouble(what, connection, clock_.now());
    return {.delivery = Delivery::not_now, .detail = std::move(what), .away = away, .lost = lost};
  }

  // Why a broker cannot be spoken to; the probe itself learns only that none can.
  static void on_error(rd_kafka_t*, int error, const char* reason, void* opaque) {
    if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return;
    std::string_view what = reason;
    what = what.substr(0, what.find(" (after "));  // another time with each attempt
    Impl& self = *static_cast<Impl*>(opaque);
    const std::lock_guard lock(self.mutex_);
    self.broker_trouble_ = what;
  }

  bool stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }
  bool wait(std::chrono::milliseconds span) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, span, [&] { return stopping_; });
  }

  void poll() {
    runtime::set_thread_name("kafka-producer");
    while (!stopping()) {
      if (handle_ == nullptr) {
        remake();
        continue;
      }
      rd_kafka_poll(handle_.get(), kPollMillis);
      std::array<char, 512> why{};
      if (rd_kafka_fatal_error(handle_.get(), why.data(), why.size()) !=
          RD_KAFKA_RESP_ERR_NO_ERROR) {
        // It has lost its sequence and will send nothing any more; another begins anew.
        log_.error("kafka.producer_fatal", {{"error", why.data()}});
        remake();
      }
    }
  }

  // Only the poller changes the handle.
  void remake() {
    {
      const std::unique_lock lock(handle_mutex_);
      if (handle_) drop();
    }
    Result<Handle> made = make();
    if (!made) {
      log_.error("kafka.producer_not_made", {{"error", made.error().what}});
      wait(kRemakePause);
      return;
    }
    const std::unique_lock lock(handle_mutex_);
    handle_ = std::move(*made);
  }

  // Answers for all that is under way, then ends it.
  void drop() {
    rd_kafka_purge(handle_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (rd_kafka_outq_len(handle_.get()) > 0) rd_kafka_poll(handle_.get(), kPollMillis);
    handle_.reset();
  }

  void probe() {
    runtime::set_thread_name("kafka-probe");
    bool first = true;
    do {
      std::optional<std::string> trouble = ask();
      const std::string what = trouble.value_or("");
      const bool changed = health_.on_probe(std::move(trouble));
      note_probe();
      if (!changed && !first) continue;
      first = false;
      if (what.empty()) {
        log_.info("kafka.ready", {{"brokers", options_.connection.brokers}});
      } else {
        log_.warn("kafka.unavailable", {{"brokers", options_.connection.brokers}, {"error", what}});
      }
    } while (!wait(std::chrono::milliseconds(options_.probe_interval.count())));
  }

  void note_probe() {
    const std::lock_guard lock(mutex_);
    probed_ = true;
    wake_.notify_all();
  }

  std::optional<std::string> ask() {
    const std::shared_lock lock(handle_mutex_);
    if (!handle_) return "the producer is being made anew";
    const struct rd_kafka_metadata* metadata = nullptr;
    const rd_kafka_resp_err_t error =
        rd_kafka_metadata(handle_.get(), 0, nullptr, &metadata, kProbeMillis);
    const std::lock_guard reasons(mutex_);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return broker_trouble_.empty() ? rd_kafka_err2str(error) : broker_trouble_;
    }
    broker_trouble_.clear();
    const bool brokers = metadata->broker_cnt > 0;
    rd_kafka_metadata_destroy(metadata);
    if (!brokers) return "no broker is known";
    if (options_.topic && !topic_is_there_) {
      if (std::optional<std::string> trouble = make_topic(handle_.get(), *options_.topic)) {
        return trouble;
      }
      topic_is_there_ = true;
    }
    return {};
  }

  const Clock& clock_;
  Log& log_;
  const ProducerOptions options_;
  runtime::ConnectionHealth health_;

  bool topic_is_there_ = false;  // of the prober

  std::atomic<std::uint64_t> produce_requests_{0};  // sent so far

  std::shared_mutex handle_mutex_;  // to use the handle: shared
  Handle handle_;                   // guarded by handle_mutex_; the poller alone changes it

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;       // guarded by mutex_
  bool probed_ = false;         // guarded by mutex_
  std::string broker_trouble_;  // guarded by mutex_; of the last attempts, empty = none

  std::thread poller_;
  std::thread prober_;
};

Producer::Producer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Producer::~Producer() = default;

Result<std::unique_ptr<Producer>> Producer::make(const Clock& clock, Log& log,
                                                 ProducerOptions options) {
  auto impl = std::make_unique<Impl>(clock, log, std::move(options));
  PENSTOCK_TRY(impl->start());
  return std::unique_ptr<Producer>(new Producer(std::move(impl)));
}

void Producer::send(OutgoingMessage&& message, Done done) {
  impl_->send(std::move(message), std::move(done));
}

Result<void> Producer::health() const { return impl_->health(); }

void Producer::wait_for_probe(Millis at_most) { impl_->wait_for_probe(at_most); }

}  // namespace penstock::kafka
