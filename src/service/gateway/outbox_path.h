// Messages by the outbox: quota, key, count and item are one step of the store. Requests that come
// while a step is under way make the next one.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "runtime/batcher.h"
#include "runtime/metrics.h"
#include "service/gateway/send_path.h"
#include "service/gateway/send_tally.h"

namespace penstock::service {

// All must outlive the path.
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
