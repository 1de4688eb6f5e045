// One idempotent producer and its threads: one takes the reports of the brokers, one asks now and
// then whether they are there. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"

namespace penstock::kafka {

// Which brokers, and how they are spoken to.
struct Connection {
  std::string brokers;  // host:port,host:port
  bool tls = false;
  std::string ca_file;           // PEM; empty = the machine's
  std::string certificate_file;  // PEM, what we show; empty = none
  std::string key_file;
  std::string sasl_mechanism;  // PLAIN, SCRAM-SHA-256, SCRAM-SHA-512; empty = none
  std::string username;
  std::string password;  // never shown
};

struct OutgoingMessage {
  std::string topic;
  std::string key;
  std::string value;
  std::vector<std::pair<std::string, std::string>> headers;
};

enum class Delivery : std::uint8_t {
  done,     // all brokers that must have it, have it
  not_now,  // the brokers are away, busy or not set up; it may have arrived all the same
  never,    // what is wrong is the message
};

struct DeliveryReport {
  Delivery delivery = Delivery::done;
  std::string detail;  // for people
  Millis away{0};      // of not_now: for how long nothing was delivered
  // Of what was not delivered: it is nowhere, for certain. Otherwise it may have arrived.
  bool lost = false;
};

struct NewTopic {
  std::string name;
  int partitions = 1;  // with as many replicas as the brokers make by themselves
};

struct ProducerOptions {
  Connection connection;
  // Within it a message is sent again, without becoming two, whatever the brokers do: so it is
  // longer than the restart of a broker, and shorter than the shortest time after which a claim of
  // dispatch counts as stale.
  Millis message_timeout = Seconds{30};
  Millis probe_interval = Seconds{2};
  // Made when it is not there; until it is, nothing is taken.
  std::optional<NewTopic> topic = {};
};

class Producer {
 public:
  using Done = std::move_only_function<void(DeliveryReport)>;

  // Connects in the background. `invalid` for settings that librdkafka refuses. All must outlive
  // the producer; `clock` never jumps.
  static Result<std::unique_ptr<Producer>> make(const Clock& clock, Log& log,
                                                ProducerOptions options);
  // Answers what is under way as not_now.
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // Never blocks. `done` is called exactly once, on the producer's thread or at once, and must not
  // block. While the brokers are known to be away nothing is taken.
  void send(OutgoingMessage&& message, Done done);

  Result<void> health() const;  // does not block
  // Until it is known whether the brokers are there, and the topic with them; at most so long.
  void wait_for_probe(Millis at_most);

 private:
  class Impl;
  explicit Producer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::kafka
