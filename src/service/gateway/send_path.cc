#include "service/gateway/send_path.h"

#include <utility>

namespace penstock::service {

OutboxPath::OutboxPath(const SendPathOptions& options, OutboxPorts ports, SendTally& tally,
                       runtime::Histogram& batch_size)
    : ports_(std::move(ports)),
      tally_(tally),
      batch_size_(batch_size),
      batcher_({.name = "gateway-send",
                .workers = options.writers,
                .join_min = options.join_min,
                .queue_max = options.queue_max,
                .batch_max = options.batch_max},
               [this](std::span<store::Send> sends) { return execute(sends); }) {}

void OutboxPath::send(std::vector<NewMessage> messages, Done done) {
  std::vector<store::Send> sends;
  sends.reserve(messages.size());
  for (NewMessage& message : messages) {
    std::string context = ports_.context(message.call, message.id, message.accepted);
    sends.push_back({.user = message.call.user,
                     .cost = message.cost,
                     .id = std::move(message.id),
                     .key = std::move(message.call.key),
                     .digest = message.call.digest,
                     .context = std::move(context)});
  }
  const std::size_t count = sends.size();
  if (!batcher_.submit(std::move(sends), std::move(done))) {
    // NOLINTNEXTLINE(bugprone-use-after-move): a refused submit has taken nothing.
    done(Answers(count, std::unexpected(too_many(kMessages))));
  }
}

SendPath::Answers OutboxPath::execute(std::span<store::Send> sends) {
  batch_size_.observe(static_cast<double>(sends.size()));
  Answers answers = ports_.quotas.send(sends, std::nullopt);
  const Instant now = ports_.clock.now();
  bool news = false;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    tally_.count(sends[i].user, answers[i], now, SentCount::by_store);
    news |= answers[i] && answers[i]->result == store::SendResult::sent;
  }
  if (news) ports_.wake();
  return answers;
}

}  // namespace penstock::service
