// A payment service on stores in memory, for tests.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "service/payments/payment_service.h"
#include "service/testing/answer.h"
#include "store/payments/conformance/payment_model.h"
#include "store/queue/conformance/item_type_model.h"
#include "store/queue/conformance/queue_model.h"

namespace penstock::service {

struct TestPayments {
  explicit TestPayments(PaymentFormat format, store::RetentionClock* retention_clock = nullptr) {
    auto started = PaymentService::start(
        {.retention = std::chrono::days{10},
         .retention_interval = retention_clock != nullptr ? Millis{1} : std::chrono::hours{1}},
        {.payments = payments,
         .rules = payments,
         .queue = queue,
         .types = types,
         .clock = clock,
         .wake = [this] { ++wakes; },
         .format = format,
         .retention_clock = retention_clock},
        log, metrics);
    service = std::move(*started);
  }

  // Calls a method of the service and waits for its answer.
  template <class T, class Method, class... Args>
  Result<T> call(Method method, Args&&... args) {
    return answer_of<Result<T>>(
        [&](auto done) { ((*service).*method)(std::forward<Args>(args)..., std::move(done)); });
  }
  PaymentService::Taken take(std::vector<core::PaymentCall> calls) {
    return answer_of<PaymentService::Taken>(
        [&](auto done) { service->take(std::move(calls), "req", std::move(done)); });
  }

  runtime::SystemClock clock;
  Log log{clock, STDERR_FILENO, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics;
  store::conformance::QueueModel queue{clock};
  store::conformance::PaymentModel payments{queue, clock};
  store::conformance::ItemTypeModel types;
  std::atomic<int> wakes{0};
  std::unique_ptr<PaymentService> service;
};

}  // namespace penstock::service
