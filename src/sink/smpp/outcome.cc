#include "sink/smpp/outcome.h"

#include "wire/smpp.h"

namespace penstock::sink {
namespace {

bool never_works(std::uint32_t status) {
  switch (status) {
    case 0x01:  // the message's length
    case 0x06:  // priority
    case 0x07:  // registered delivery
    case 0x0A:  // source address
    case 0x0B:  // destination address
    case 0x15:  // service type
    case 0x33:  // number of destinations
    case 0x34:  // name of a distribution list
    case 0x40:  // destination flag
    case 0x43:  // esm_class
    case 0x48:  // type and plan of the source
    case 0x49:
    case 0x50:  // type and plan of the destination
    case 0x51:
    case 0x54:  // replace flag
    case 0x61:  // time of delivery
    case 0x62:  // validity
    case 0x63:  // canned message
    case 0x65:  // the receiver's permanent error, and its refusal
    case 0x66:
    case 0xC0:  // options
    case 0xC1:
    case 0xC2:
    case 0xC3:
    case 0xC4:
      return true;
    default:
      return false;
  }
}

}  // namespace

SinkAnswer judge_status(std::uint32_t status) {
  SinkAnswer answer{.outcome = SinkOutcome::failed, .detail = wire::smpp_status_name(status)};
  if (status == wire::kSmppOk) answer.outcome = SinkOutcome::done;
  if (status == wire::kSmppThrottled || status == wire::kSmppQueueFull) {
    answer.outcome = SinkOutcome::slow_down;  // the protocol has no word for how long
  }
  if (never_works(status)) answer.outcome = SinkOutcome::refused;
  return answer;
}

}  // namespace penstock::sink
