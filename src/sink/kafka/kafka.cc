#include "sink/kafka/kafka.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "base/iso8601.h"
#include "wire/gateway.h"

namespace penstock::sink {
namespace {

// While nothing is delivered: as long as it has been so, within these.
constexpr Millis kPauseMin{250};
constexpr Millis kPauseMax{5'000};  // a dispatcher keeps its items through it

kafka::OutgoingMessage message_of(Handover&& item, const std::string& topic) {
  std::string value;
  value.reserve(item.context.size() + 400);  // the rest is two ids, a time and names
  append_envelope_start(value, item);
  value += item.context;
  value += kEnvelopeEnd;
  return {.topic = topic,
          .key = item.id.str(),
          .value = std::move(value),
          .headers = {{"idempotency-key", item.type.str() + ":" + item.id.str()},
                      {"penstock-item-type", item.type.str()},
                      {"penstock-attempt", std::to_string(item.attempt)},
                      {"penstock-scheduled-time", format_instant(item.scheduled)}}};
}

SinkAnswer answer_of(kafka::DeliveryReport&& report) {
  switch (report.delivery) {
    case kafka::Delivery::done:
      return {.outcome = SinkOutcome::done, .detail = std::move(report.detail)};
    case kafka::Delivery::never:
      return {.outcome = SinkOutcome::refused, .detail = std::move(report.detail)};
    case kafka::Delivery::not_now:
      break;
  }
  return {.outcome = SinkOutcome::slow_down,
          .detail = std::move(report.detail),
          .pause = std::clamp(report.away, kPauseMin, kPauseMax)};
}

// What is under way. Reports keep it alive, since they may come after the sink is gone.
class Pending {
 public:
  std::uint64_t add(Sink::Done&& done) {
    const std::lock_guard lock(mutex_);
    calls_.emplace(++last_, std::move(done));
    return last_;
  }
  void answer(std::uint64_t call, SinkAnswer&& answer) {
    Sink::Done done;
    {
      const std::lock_guard lock(mutex_);
      const auto found = calls_.find(call);
      if (found == calls_.end()) return;  // answered when the sink was closed
      done = std::move(found->second);
      calls_.erase(found);
      ++telling_;
    }
    done(std::move(answer));
    const std::lock_guard lock(mutex_);
    if (--telling_ == 0) told_.notify_all();
  }
  void close() {
    std::unordered_map<std::uint64_t, Sink::Done> left;
    {
      std::unique_lock lock(mutex_);
      left.swap(calls_);
      told_.wait(lock, [&] { return telling_ == 0; });
    }
    for (auto& [call, done] : left) {
      done({.outcome = SinkOutcome::failed, .detail = "the sink was closed"});
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  std::unordered_map<std::uint64_t, Sink::Done> calls_;  // guarded by mutex_
  std::uint64_t last_ = 0;                               // guarded by mutex_
  int telling_ = 0;                                      // guarded by mutex_
};

class KafkaSink final : public Sink {
 public:
  KafkaSink(std::string topic, kafka::Producer& producer)
      : topic_(std::move(topic)), producer_(producer) {}
  ~KafkaSink() override { pending_->close(); }

  void send(Handover&& item, Done done) override {
    const std::uint64_t call = pending_->add(std::move(done));
    producer_.send(message_of(std::move(item), topic_),
                   [pending = pending_, call](kafka::DeliveryReport report) {
                     pending->answer(call, answer_of(std::move(report)));
                   });
  }

 private:
  const std::string topic_;
  kafka::Producer& producer_;
  const std::shared_ptr<Pending> pending_ = std::make_shared<Pending>();
};

BusOutcome outcome_of(const kafka::DeliveryReport& report) {
  if (report.delivery == kafka::Delivery::done) return BusOutcome::delivered;
  return report.lost ? BusOutcome::lost : BusOutcome::unknown;
}

}  // namespace

SinkKind kafka_kind(kafka::Producer* producer) {
  return kind_of<KafkaSettings>(
      "kafka",
      [producer](const KafkaSettings& settings) -> Result<std::unique_ptr<Sink>> {
        if (producer == nullptr) {
          return invalid_field("sink.type", "is kafka, and kafka.brokers is not set");
        }
        return std::make_unique<KafkaSink>(settings.topic, *producer);
      },
      [producer]() -> Result<void> {
        if (producer != nullptr) return producer->health();
        return fail(ErrorKind::unavailable, "item types go to Kafka, and kafka.brokers is not set");
      });
}

void KafkaBus::publish(BusMessage&& message, Done done) {
  kafka::OutgoingMessage record{
      .topic = topic_,
      .key = std::to_string(message.user.raw),
      .value = wire::encode_message_line(message.user, message.text),
      .headers = {{std::string(wire::kMessageIdHeader), message.id.str()},
                  {std::string(wire::kAcceptedAtHeader), format_instant(message.accepted)}}};
  if (!message.to.empty()) record.headers.emplace_back(wire::kToHeader, std::move(message.to));
  if (!message.trace.empty()) {
    record.headers.emplace_back(wire::kTraceHeader, std::move(message.trace));
  }
  producer_.send(std::move(record),
                 [done = std::move(done)](const kafka::DeliveryReport& report) mutable {
                   done(outcome_of(report));
                 });
}

}  // namespace penstock::sink
