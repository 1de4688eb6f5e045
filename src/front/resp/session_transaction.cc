// MULTI and EXEC. Some clients wrap them around every pipeline (Python's does unless told not to),
// so they have to work; each call is still decided by itself, and calls of others may come between.
#include "front/resp/session.h"

namespace penstock::front {
namespace {

using wire::RespVersion;
using wire::RespWriter;

// A pipeline as large as people write them; its replies are as many again.
constexpr std::size_t kQueuedCallsMax = 10'000;
constexpr std::size_t kQueuedBytesMax = 1024 * 1024;

}  // namespace

void RespSession::multi(Arguments, RespWriter& out) {
  if (transaction_ != nullptr) {
    out.error("ERR MULTI calls can not be nested");
    return;
  }
  transaction_ = std::make_unique<Transaction>();
  out.simple("OK");
}

void RespSession::discard(Arguments, RespWriter& out) {
  if (transaction_ == nullptr) {
    out.error("ERR DISCARD without MULTI");
    return;
  }
  transaction_.reset();
  out.simple("OK");
}

void RespSession::exec(Arguments, RespWriter& out) {
  if (transaction_ == nullptr) {
    out.error("ERR EXEC without MULTI");
  } else if (transaction_->broken) {
    transaction_.reset();
    out.error("EXECABORT Transaction discarded because of previous errors.");
  } else {
    out.array(transaction_->count);
    executes_ = true;
  }
}

void RespSession::queue(Arguments arguments, RespWriter& out) {
  if (!transaction_->broken) {
    std::size_t bytes = transaction_->calls.size();
    for (const std::string_view argument : arguments) bytes += argument.size();
    if (transaction_->count == kQueuedCallsMax || bytes > kQueuedBytesMax) {
      break_transaction();
      out.error("ERR too big transaction");
      return;
    }
    RespWriter call(transaction_->calls, RespVersion::v2);
    call.array(arguments.size());
    for (const std::string_view argument : arguments) call.bulk(argument);
    ++transaction_->count;
  }
  out.simple("QUEUED");
}

void RespSession::break_transaction() noexcept {
  if (transaction_ == nullptr) return;
  transaction_->broken = true;
  std::string().swap(transaction_->calls);
}

}  // namespace penstock::front
