// MULTI and EXEC. Some clients wrap them around every pipeline (Python's does unless told not to),
// so they have to work; each call is still decided by itself, and calls of others may come between.
#include "front/resp/session.h"

namespace penstock::front {
namespace {

using wire::RespVersion;
using wire::RespWriter;

// A pipeline as large as people write them. Its replies leave as one, so they are bounded with it:
// at most 1.2 MB for calls of CL.THROTTLE, and what verbose commands answer counts as if it were in
// the request.
constexpr std::size_t kQueuedCallsMax = 10'000;
constexpr std::size_t kQueuedBytesMax = 1024 * 1024;
constexpr std::size_t kBlockBytes = 32 * 1024;
constexpr std::size_t kFramingBytes = 12;         // of an argument: `$65536`, and twice CR LF
constexpr std::size_t kVerboseReplyBytes = 1024;  // COMMAND has 1,070

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

// A block with that much room. It is made in advance, since a block that outgrows its memory
// doubles.
std::string& RespSession::room_for(Transaction& queued, std::size_t needed) {
  const auto is_full = [&](const std::string& block) {
    return block.size() >= kBlockBytes && block.size() + needed > block.capacity();
  };
  if (queued.calls.empty() || is_full(queued.calls.back())) queued.calls.emplace_back();
  std::string& block = queued.calls.back();
  const std::size_t before = block.capacity();
  block.reserve(block.size() + needed);
  queued.bytes += block.capacity() - before;
  return block;
}

void RespSession::queue(Arguments arguments, bool verbose, RespWriter& out) {
  Transaction& queued = *transaction_;
  if (!queued.broken) {
    std::size_t needed = kFramingBytes;
    for (const std::string_view argument : arguments) needed += argument.size() + kFramingBytes;
    queued.verbose_count += verbose ? 1 : 0;
    const std::size_t replies = kVerboseReplyBytes * queued.verbose_count;
    if (queued.count == kQueuedCallsMax || queued.bytes + needed + replies > kQueuedBytesMax) {
      break_transaction();
      out.error("ERR too big transaction");
      return;
    }
    RespWriter call(room_for(queued, needed), RespVersion::v2);
    call.array(arguments.size());
    for (const std::string_view argument : arguments) call.bulk(argument);
    ++queued.count;
  }
  out.simple("QUEUED");
}

void RespSession::break_transaction() noexcept {
  if (transaction_ == nullptr) return;
  transaction_->broken = true;
  transaction_->bytes = 0;
  std::vector<std::string>().swap(transaction_->calls);
}

}  // namespace penstock::front
