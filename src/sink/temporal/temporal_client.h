// What all Temporal sinks of a process share: one connection to the server's frontend, one thread
// that takes its answers and one that asks now and then whether it still serves the namespace. Must
// outlive its sinks. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item_type.h"
#include "runtime/metrics.h"
#include "sink/sink.h"

namespace penstock::sink {

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
  // many starts are under way as it is given; each is answered within `settings.timeout`, on the
  // client's thread, which must not destroy it.
  std::unique_ptr<Sink> open_sink(const core::SinkSettings& settings);

  // Why nothing can be started now; does not block.
  Result<void> health() const;
  // Until it is known whether the namespace is served; at most so long.
  void wait_for_probe(Millis at_most);

 private:
  const std::unique_ptr<TemporalConnection> connection_;
};

}  // namespace penstock::sink
