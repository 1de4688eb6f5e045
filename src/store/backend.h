// What a backend offers: for each capability a plain struct of its ports. `compose` refuses to
// start, with one clear sentence, when a configured feature lacks its ports.
#pragma once

#include <string>

#include "base/result.h"
#include "store/limits/ports.h"
#include "store/payments/ports.h"
#include "store/port.h"
#include "store/queue/ports.h"
#include "store/quota/ports.h"
#include "store/retention_clock.h"
#include "store/slots/ports.h"

namespace penstock::store {

// Whether the engine behind the ports can do work now. Thread-safe, cheap, never blocks for long.
class StoreHealth : public Port {
 public:
  virtual Result<void> check() = 0;
  // What somebody should know although the engine works, such as damage that a reader met; empty
  // when there is nothing. Stays until the process ends.
  virtual std::string note() { return {}; }
};

struct Backend {
  std::string name;  // "embedded", "postgres", …
  StoreHealth* health = nullptr;
  RetentionClock* retention_clock = nullptr;
  SlotPorts slots = {};
  LimitPorts limits = {};
  QueuePorts queue = {};
  PaymentPorts payments = {};
  QuotaPorts quota = {};
};

}  // namespace penstock::store
