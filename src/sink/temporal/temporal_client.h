// What all Temporal sinks of a process share: one connection to the server's frontend, one thread
// that takes its answers and one that asks now and then whether it still serves the namespace. Must
// outlive its sinks. Thread-safe.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/describe.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/metrics.h"
#include "sink/kinds.h"
#include "sink/sink.h"

namespace penstock::sink {

struct TemporalSettings {
  std::string workflow_type;
  std::string task_queue;
  std::int64_t concurrency = 32;

  // The server itself waits until an item's time has come.
  core::SinkTraits traits() const {
    return {.concurrency = static_cast<std::size_t>(concurrency), .delays = true};
  }
};

struct TemporalOptions {
  std::string address;  // host:port
  std::string namespace_name = "default";
  std::string version;  // of this program, for the server's statistics
  bool tls = false;
  // PEM, the texts themselves; empty = the machine's certificates to trust, none of our own.
  std::string ca_certificates;
  std::string certificate;
  std::string key;
  std::string server_name;  // as the certificate has it; empty = the host of the address
  std::string api_key;      // empty = none; never shown
  // Between two questions whether the namespace is served: as long as a load balancer needs to
  // notice, too.
  Millis probe_interval = Seconds{2};
  Millis start_timeout = Seconds{10};  // of each start
};

class TemporalConnection;

class TemporalClient {
 public:
  // Connects in the background; a server that is away is waited for. `clock` never jumps. All must
  // outlive the client.
  TemporalClient(const Clock& clock, Log& log, runtime::Metrics& metrics, TemporalOptions options);
  ~TemporalClient();
  TemporalClient(const TemporalClient&) = delete;
  TemporalClient& operator=(const TemporalClient&) = delete;

  // A sink that starts `settings.workflow_type` on `settings.task_queue` for every hand-over. As
  // many starts are under way as it is given; each is answered within the options' time-out, on the
  // client's thread, which must not destroy it.
  std::unique_ptr<Sink> open_sink(const TemporalSettings& settings);

  // Why nothing can be started now; does not block.
  Result<void> health() const;
  // Until it is known whether the namespace is served; at most so long.
  void wait_for_probe(Millis at_most);

 private:
  const std::unique_ptr<TemporalConnection> connection_;
};

// `client` must outlive the sinks; null = temporal.address is not set.
SinkKind temporal_kind(TemporalClient* client);

}  // namespace penstock::sink

namespace penstock {

template <>
struct Description<sink::TemporalSettings> {
  using Settings = sink::TemporalSettings;
  static constexpr std::string_view name = "TemporalSink";
  static constexpr std::array fields = {
      required(range(field<&Settings::workflow_type>("workflowType", "The workflow to start."), 1,
                     1'000)),
      required(
          range(field<&Settings::task_queue>("taskQueue", "Where workers ask for it."), 1, 1'000)),
      range(field<&Settings::concurrency>("concurrency", "Starts under way at once."), 1, 1'024)};
};

}  // namespace penstock
