#include "base/result.h"

namespace penstock {

std::string_view to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::invalid:
      return "invalid";
    case ErrorKind::too_large:
      return "too_large";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::conflict:
      return "conflict";
    case ErrorKind::forbidden:
      return "forbidden";
    case ErrorKind::limited:
      return "limited";
    case ErrorKind::exhausted:
      return "exhausted";
    case ErrorKind::overloaded:
      return "overloaded";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::corrupt:
      return "corrupt";
  }
  return "unknown";
}

bool Error::retryable() const noexcept {
  switch (kind) {
    case ErrorKind::limited:
    case ErrorKind::exhausted:
    case ErrorKind::overloaded:
    case ErrorKind::unavailable:
    case ErrorKind::timeout:
      return true;
    case ErrorKind::invalid:
    case ErrorKind::too_large:
    case ErrorKind::not_found:
    case ErrorKind::conflict:
    case ErrorKind::forbidden:
    case ErrorKind::corrupt:
      return false;
  }
  return false;
}

}  // namespace penstock
