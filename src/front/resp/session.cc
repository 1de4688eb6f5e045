#include "front/resp/session.h"

#include <utility>

#include "base/ascii.h"
#include "base/check.h"

namespace penstock::front {
namespace {

using ParseStatus = wire::RespRequestParser::Status;

constexpr wire::RespRequestLimits kLimits;
constexpr wire::RespRequestLimits kStrangersLimits = wire::RespRequestLimits::before_auth();
// What was queued was within the limits when it came; an inline command grows by being framed.
constexpr wire::RespRequestLimits kQueuedLimits{.request_bytes = 1024 * 1024};

bool is_throttle(std::string_view name) noexcept { return ascii_equal(name, "cl.throttle"); }

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

RespSession::RespSession(RespState& state, std::uint64_t id, const wire::IpAddress& peer)
    : state_(state), id_(id), peer_(peer), trusted_(state.password.current().empty()) {}

template <class Settle>
void RespSession::answer(Arguments arguments, ThrottleBatch& batch, std::string& out,
                         Settle settle) {
  if (trusted_ && is_throttle(arguments[0]) && transaction_ == nullptr) {
    std::string problem;
    if (batch.add(arguments, problem)) {
      if (batch.is_full()) settle();
      return;
    }
    settle();
    wire::RespWriter(out, version_).error(problem);
    return;
  }
  settle();
  run(arguments, out);
}

void RespSession::execute(ThrottleBatch& batch, std::string& out) {
  executes_ = false;
  const std::unique_ptr<Transaction> transaction = std::move(transaction_);
  const auto settle = [&] { batch.settle(out); };
  for (std::string_view rest : transaction->calls) {
    wire::RespRequestParser parser;
    while (parser.parse(rest, kQueuedLimits) == ParseStatus::request) {
      rest.remove_prefix(parser.consumed());
      answer(parser.arguments(), batch, out, settle);
    }
    PENSTOCK_CHECK(rest.empty());
  }
  settle();
}

RespSession::Turn RespSession::handle(std::string_view in, ThrottleBatch& batch, std::string& out) {
  Turn turn{.from = out.size()};
  bool settled = false;
  const auto settle = [&] {
    const std::size_t from = batch.settle(out);
    if (!std::exchange(settled, true)) turn.from = from;
  };
  while (!turn.close) {
    if (out.size() >= kReplyBytes) {
      turn.full = true;
      break;
    }
    const ParseStatus status =
        parser_.parse(in.substr(turn.consumed), trusted_ ? kLimits : kStrangersLimits);
    if (status == ParseStatus::need_more) break;
    if (status == ParseStatus::invalid) {
      settle();
      wire::RespWriter(out, version_)
          .error("ERR Protocol error: " + std::string(parser_.problem()));
      state_.metrics.protocol_errors.add();
      turn.close = true;
      break;
    }
    turn.consumed += parser_.consumed();
    const Arguments arguments = parser_.arguments();
    if (arguments.empty()) continue;
    answer(arguments, batch, out, settle);
    if (executes_) execute(batch, out);
    turn.close = quits_;
  }
  turn.open = !settled && !turn.full && batch.is_open();
  if (!turn.open) settle();
  return turn;
}

// MULTI and EXEC. Some clients wrap them around every pipeline (Python's does unless told not to),
// so they have to work; each call is still decided by itself, and calls of others may come between.

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
