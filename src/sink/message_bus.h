// Port: a bus outside of the store that takes the gateway's messages to who sends them.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/gateway/quota.h"

namespace penstock::sink {

struct BusMessage {
  ItemId id;
  core::UserId user;
  std::string text;
  std::string to;  // the number it goes to; empty = none was given
  Instant accepted{};
  std::string trace;  // traceparent; empty = none
};

enum class BusOutcome : std::uint8_t {
  delivered,  // it is durable there
  lost,       // it is not there, for certain
  unknown,    // nobody answered in time: it may be there
};

class MessageBus {
 public:
  using Done = std::move_only_function<void(BusOutcome)>;

  MessageBus() = default;
  MessageBus(const MessageBus&) = delete;
  MessageBus& operator=(const MessageBus&) = delete;
  virtual ~MessageBus() = default;

  // Never blocks. `done` is called exactly once, at once or within the bus's deadline on a thread
  // of its own, and must not block. A message may be published again under its id.
  virtual void publish(BusMessage&& message, Done done) = 0;
};

}  // namespace penstock::sink
