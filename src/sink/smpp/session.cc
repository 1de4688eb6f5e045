#include "sink/smpp/session.h"

#include <algorithm>

#include "base/check.h"

namespace penstock::sink {
namespace {

using wire::append_smpp;
using wire::append_smpp_answer;
using wire::append_smpp_message;
using wire::SmppCommand;
using wire::SmppFrame;

constexpr std::uint32_t kSequenceMax = 0x7FFF'FFFF;  // the protocol's

}  // namespace

SmppSession::SmppSession(const SessionOptions& options, Micros now) : options_(options) {
  append_smpp_bind(output_, next_sequence(), options_.bind);
  expect_answer(now);
}

std::uint32_t SmppSession::next_sequence() noexcept {
  sequence_ = sequence_ >= kSequenceMax ? 1 : sequence_ + 1;
  return sequence_;
}

void SmppSession::finish(std::string why) {
  if (!end_) end_ = std::move(why);
  answer_by_ = look_at_ = Micros::max();
  if (state_ != State::left) state_ = State::leaving;
}

void SmppSession::on_bytes(std::string_view bytes, Micros now) {
  if (end_) return;
  input_ += bytes;
  look_at_ = now + options_.look_after;
  if (state_ == State::bound) answer_by_ = Micros::max();  // it lives: that is all that was asked
  std::string_view rest = input_;
  while (!end_) {
    const SmppFrame frame = wire::read_smpp_frame(rest);
    if (frame.state == SmppFrame::State::need_more) break;
    if (frame.state == SmppFrame::State::broken) {
      append_smpp(output_, {.command = SmppCommand::generic_nack,
                            .status = wire::kSmppInvalidLength,
                            .sequence = 0});
      return finish("the provider sent a unit of an impossible length");
    }
    rest.remove_prefix(frame.size);
    take(frame);
  }
  input_.erase(0, input_.size() - rest.size());
}

void SmppSession::take(const SmppFrame& frame) {
  const wire::SmppHeader& header = frame.header;
  switch (header.command) {
    case SmppCommand::bind_transceiver_resp:
      return take_bind_answer(header);
    case SmppCommand::submit_sm_resp:
      return take_submit_answer(frame);
    case SmppCommand::deliver_sm:
      return take_delivery(frame);
    case SmppCommand::enquire_link:
      return append_smpp(output_, {.command = SmppCommand::enquire_link_resp,
                                   .status = wire::kSmppOk,
                                   .sequence = header.sequence});
    case SmppCommand::enquire_link_resp:
      return;
    case SmppCommand::unbind:
      append_smpp(output_, {.command = SmppCommand::unbind_resp,
                            .status = wire::kSmppOk,
                            .sequence = header.sequence});
      return finish("the provider ended the session");
    case SmppCommand::unbind_resp:
      if (state_ == State::leaving) {
        state_ = State::left;
        finish("unbound");
      }
      return;
    case SmppCommand::generic_nack:
      if (state_ == State::binding) {
        return finish("the provider does not take binds: " + wire::smpp_status_name(header.status));
      }
      return take_submit_answer(frame);
    case SmppCommand::outbind:
    case SmppCommand::alert_notification:
      return;  // these have no answer
    default:
      break;
  }
  if (wire::is_response(header.command)) return;
  append_smpp(output_, {.command = SmppCommand::generic_nack,
                        .status = wire::kSmppInvalidCommand,
                        .sequence = header.sequence});
}

void SmppSession::take_bind_answer(const wire::SmppHeader& header) {
  if (state_ != State::binding) return;
  if (header.status != wire::kSmppOk) {
    return finish("the provider refused the bind: " + wire::smpp_status_name(header.status));
  }
  state_ = State::bound;
  answer_by_ = Micros::max();
}

void SmppSession::take_submit_answer(const SmppFrame& frame) {
  const auto found = submits_.find(frame.header.sequence);
  if (found == submits_.end()) return;  // given up by now, or never made
  Answered answered{.ticket = found->second, .status = frame.header.status, .reference = {}};
  submits_.erase(found);
  if (frame.header.command == SmppCommand::generic_nack) {
    // It was not understood, whatever else this says.
    if (answered.status == wire::kSmppOk) answered.status = wire::kSmppSystemError;
  } else if (answered.status == wire::kSmppOk) {
    // A message that was taken is taken, whatever its provider calls it.
    answered.reference = wire::decode_smpp_answer(frame.body).value_or("");
  }
  answered_.push_back(std::move(answered));
}

void SmppSession::take_delivery(const SmppFrame& frame) {
  Result<wire::SmppMessage> message = wire::decode_smpp_message(frame.body);
  if (!message) {
    return append_smpp_answer(output_,
                              {.command = SmppCommand::deliver_sm_resp,
                               .status = wire::kSmppInvalidLength,
                               .sequence = frame.header.sequence},
                              "");
  }
  delivered_.push_back({.sequence = frame.header.sequence, .message = std::move(*message)});
}

void SmppSession::submit(Ticket ticket, const wire::SmppMessage& message) {
  PENSTOCK_CHECK(has_room());
  std::uint32_t sequence = next_sequence();
  while (submits_.contains(sequence)) sequence = next_sequence();
  submits_.emplace(sequence, ticket);
  append_smpp_message(
      output_, {.command = SmppCommand::submit_sm, .status = wire::kSmppOk, .sequence = sequence},
      message);
}

void SmppSession::forget(Ticket ticket) {
  std::erase_if(submits_, [&](const auto& submit) { return submit.second == ticket; });
}

void SmppSession::answer_delivery(std::uint32_t sequence, std::uint32_t status) {
  if (state_ != State::bound && state_ != State::leaving) return;
  append_smpp_answer(
      output_, {.command = SmppCommand::deliver_sm_resp, .status = status, .sequence = sequence},
      "");
}

void SmppSession::unbind(Micros now) {
  if (state_ != State::bound) return finish("unbound");
  state_ = State::leaving;
  append_smpp(
      output_,
      {.command = SmppCommand::unbind, .status = wire::kSmppOk, .sequence = next_sequence()});
  look_at_ = Micros::max();
  expect_answer(now);
}

void SmppSession::on_time(Micros now) {
  if (end_) return;
  if (now >= answer_by_) {
    switch (state_) {
      case State::binding:
        return finish("the provider did not answer the bind");
      case State::leaving:
        return finish("the provider did not answer the unbind");
      default:
        return finish("the provider does not answer any more");
    }
  }
  if (state_ != State::bound || now < look_at_) return;
  append_smpp(
      output_,
      {.command = SmppCommand::enquire_link, .status = wire::kSmppOk, .sequence = next_sequence()});
  look_at_ = now + options_.look_after;
  if (answer_by_ == Micros::max()) expect_answer(now);
}

}  // namespace penstock::sink
