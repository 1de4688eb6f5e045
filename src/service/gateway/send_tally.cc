#include "service/gateway/send_tally.h"

#include <string>
#include <utility>

namespace penstock::service {
namespace {

runtime::Counter& sent_count(runtime::Metrics& metrics, std::string name) {
  return metrics.counter("gateway_messages_total", "Attempts to send by what came of them",
                         {{"outcome", std::move(name)}});
}

}  // namespace

SendTally::SendTally(store::QuotaStore& quotas, runtime::Metrics& metrics)
    : sent_(sent_count(metrics, "sent")),
      repeated_(sent_count(metrics, "repeated")),
      limited_(sent_count(metrics, "limited")),
      conflict_(sent_count(metrics, "conflict")),
      unknown_user_(sent_count(metrics, "unknown_user")),
      failed_(sent_count(metrics, "failed")),
      uncounted_(metrics.counter("gateway_usage_uncounted_total",
                                 "Attempts that analytics had no room for")),
      usage_(quotas) {}

void SendTally::count(core::UserId user, const Result<store::Sent>& answer, Instant now,
                      SentCount sent) {
  const auto note = [&](const store::UsageCounts& counts) {
    if (!usage_.add(user, now, counts)) uncounted_.add();
  };
  if (!answer) {
    failed_.add();
    return note({.failed = 1});
  }
  switch (answer->result) {
    case store::SendResult::sent:
      sent_.add();
      if (sent == SentCount::by_tally) note({.sent = 1});
      return;
    case store::SendResult::repeated:
      return repeated_.add();
    case store::SendResult::different:
    case store::SendResult::pending:
      return conflict_.add();
    case store::SendResult::unknown_user:  // nobody's usage: anyone could make up users
      return unknown_user_.add();
    case store::SendResult::limited:
    case store::SendResult::never:
      limited_.add();
      return note({.limited = 1});
    case store::SendResult::unpublished:
    case store::SendResult::unconfirmed:
      failed_.add();
      return note({.failed = 1});
  }
}

}  // namespace penstock::service
