// Takes in what comes by Kafka: topics become items, or payments.
#pragma once

#include <memory>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "daemon/config/config.h"
#include "engine/kafka/consumer.h"
#include "engine/kafka/producer.h"
#include "front/http/routes/routes.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "service/dispatch/dispatch_service.h"
#include "service/payments/payment_service.h"

namespace penstock::daemon {

// What the messages go to; must outlive the intake.
struct IntakePorts {
  kafka::Producer* dead_letters = nullptr;  // there when kafka.brokers is set
  service::DispatchService& dispatch;
  service::PaymentService& payments;
  runtime::MemoryBudget& memory;
};

class IntakePart {
 public:
  // Does nothing when no topics are set. `log` and `metrics` must outlive this, and this the
  // checks.
  static Result<std::unique_ptr<IntakePart>> start(const Config& config, const IntakePorts& ports,
                                                   Log& log, runtime::Metrics& metrics,
                                                   std::vector<front::ReadyCheck>& checks);

  // Leaves the group; takes nothing in afterwards. Idempotent.
  void stop() { consumer_.reset(); }

 private:
  const runtime::SteadyWallClock steady_;
  std::unique_ptr<kafka::Consumer> consumer_;  // null = no topics are set, or it was stopped
};

}  // namespace penstock::daemon
