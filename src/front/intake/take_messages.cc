#include "front/intake/take_messages.h"

namespace penstock::front {

kafka::Verdict verdict_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid:
    case ErrorKind::too_large:
    case ErrorKind::not_found:  // a slot config that the message names
    case ErrorKind::conflict:
    case ErrorKind::forbidden:
    case ErrorKind::exhausted:  // no room as deep as may be looked: waiting would hold up the rest
      return poison(error.what);
    case ErrorKind::limited:
    case ErrorKind::overloaded:
    case ErrorKind::unavailable:
    case ErrorKind::timeout:
    case ErrorKind::corrupt:
      break;
  }
  return {.kind = kafka::Verdict::Kind::retry, .reason = error.what};
}

}  // namespace penstock::front
