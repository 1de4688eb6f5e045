#include "sink/kafka/kafka_sink.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/iso8601.h"
#include "sink/envelope.h"

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

}  // namespace

std::unique_ptr<Sink> make_kafka_sink(const core::SinkSettings& settings,
                                      kafka::Producer& producer) {
  return std::make_unique<KafkaSink>(settings.topic, producer);
}

}  // namespace penstock::sink
