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

}  // namespace penstock::front
