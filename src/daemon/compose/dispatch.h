// Dispatch as a part of the daemon: the service on its stores, the sinks, and the routes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "daemon/config/config.h"
#include "engine/kafka/producer.h"
#include "front/http/http.h"
#include "front/http/routes/routes.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "service/dispatch/dispatch_service.h"
#include "sink/extension.h"
#include "sink/http/http_client.h"
#include "sink/kinds.h"
#include "sink/receipt_book.h"
#include "sink/smpp/smpp_client.h"
#include "sink/temporal/temporal_client.h"
#include "store/backend.h"

namespace penstock::daemon {

// Puts something around the sink of a type; may give back what it was given.
using WrapSink = std::function<std::unique_ptr<sink::Sink>(
    const ItemType&, const core::SinkSettings&, std::unique_ptr<sink::Sink>)>;

kafka::Connection kafka_connection(const KafkaConfig& config);
// `invalid` naming the file that cannot be read.
Result<sink::TemporalOptions> temporal_options(const TemporalConfig& config);

// What the sinks of a process share; null = not here.
struct SinkClients {
  Log* log = nullptr;
  sink::HttpClient* http = nullptr;
  kafka::Producer* kafka = nullptr;
  sink::TemporalClient* temporal = nullptr;
  sink::SmppClient* smpp = nullptr;
};

// The one list of the kinds that are ours. Without clients they can be described, not opened.
std::vector<sink::SinkKind> sink_kinds(const SinkClients& clients);

class DispatchPart {
 public:
  // All but `config` must outlive this, and this the routes and the checks. `receipts` is told what
  // becomes of messages.
  static Result<std::unique_ptr<DispatchPart>> start(
      const Config& config, const store::Backend& backend, service::ItemNews& news,
      const Clock& clock, Log& log, runtime::Metrics& metrics, runtime::MemoryBudget& memory,
      std::uint64_t seed, WrapSink wrap, std::span<const sink::MakeExtension> extensions,
      sink::ReceiptBook* receipts, std::vector<front::Route>& routes,
      std::vector<front::ReadyCheck>& checks);

  service::DispatchService& service() noexcept { return *service_; }
  kafka::Producer* kafka() noexcept { return kafka_.get(); }  // null = no brokers are set

  // Gives back what is held and waits for what is under way. Once no request is left; idempotent.
  void stop();

 private:
  DispatchPart() = default;

  Result<void> connect(const Config& config, const Clock& clock, Log& log,
                       runtime::Metrics& metrics, sink::ReceiptBook* receipts, std::uint64_t seed);
  void add_checks(std::vector<front::ReadyCheck>& checks);

  const runtime::SteadyWallClock steady_;
  std::unique_ptr<sink::HttpClient> http_;
  std::unique_ptr<kafka::Producer> kafka_;          // null = no brokers are set
  std::unique_ptr<sink::TemporalClient> temporal_;  // null = no address is set
  std::unique_ptr<sink::SmppClient> smpp_;
  std::optional<sink::SinkKinds> kinds_;
  std::size_t own_kinds_ = 0;  // the first of kinds_; extensions follow
  std::unique_ptr<service::DispatchService> service_;
};

}  // namespace penstock::daemon
