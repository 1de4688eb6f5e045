// How an accepted message gets on its way: the outbox of the store, or a bus outside of it.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/gateway/message.h"
#include "runtime/batcher.h"
#include "runtime/metrics.h"
#include "service/gateway/send_tally.h"
#include "service/reads.h"
#include "store/quota/ports.h"

namespace penstock::service {

struct NewMessage {
  core::SendCall call;
  ItemId id;
  std::int64_t cost = 1;
  Instant accepted{};
};

struct SendPathOptions {
  std::size_t queue_max = 65'536;  // messages waiting or, on a bus, under way
  std::size_t batch_max = 4'096;   // messages in one step of the store
  std::size_t writers = 1;         // batches in flight; more than one only helps a shared store
  std::size_t join_min = 64;  // messages that make another batch in flight worth its round trip
};

inline constexpr std::string_view kMessages = "messages";  // too many of them may wait

class SendPath {
 public:
  using Answers = std::vector<Result<store::Sent>>;
  using Done = std::move_only_function<void(Answers)>;

  SendPath() = default;
  SendPath(const SendPath&) = delete;
  SendPath& operator=(const SendPath&) = delete;
  virtual ~SendPath() = default;

  // One answer per message (there is at least one), in order, exactly once, on a thread of the
  // path; `overloaded` at once when there is no room.
  virtual void send(std::vector<NewMessage> messages, Done done) = 0;

  // Finishes what was taken; later calls are answered `overloaded`. Idempotent.
  virtual void stop() = 0;

  virtual std::size_t waiting() const = 0;
};

// Messages by the outbox: quota, key, count and item are one step of the store. Requests that come
// while a step is under way make the next one. All must outlive the path.
struct OutboxPorts {
  store::QuotaStore& quotas;
  const Clock& clock;
  std::function<void()> wake;  // there is something to send
  std::string (*context)(const core::SendCall&, const ItemId&, Instant accepted) = nullptr;
};

class OutboxPath final : public SendPath {
 public:
  // All must outlive the path.
  OutboxPath(const SendPathOptions& options, OutboxPorts ports, SendTally& tally,
             runtime::Histogram& batch_size);

  void send(std::vector<NewMessage> messages, Done done) override;
  void stop() override { batcher_.stop(); }
  std::size_t waiting() const override { return batcher_.waiting(); }

 private:
  Answers execute(std::span<store::Send> sends);

  const OutboxPorts ports_;
  SendTally& tally_;
  runtime::Histogram& batch_size_;
  runtime::Batcher<store::Send, Result<store::Sent>> batcher_;  // last: its threads use the above
};

}  // namespace penstock::service
