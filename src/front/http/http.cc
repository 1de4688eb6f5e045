#include "front/http/http.h"

namespace penstock::front {

std::string_view to_string(Access access) noexcept {
  switch (access) {
    case Access::everyone:
      return "everyone";
    case Access::open:
      return "open";
    case Access::api:
      return "api";
    case Access::admin:
      break;
  }
  return "admin";
}

std::string_view to_string(BodyLimit limit) noexcept {
  switch (limit) {
    case BodyLimit::none:
      return "none";
    case BodyLimit::single:
      return "single";
    case BodyLimit::batch:
      return "batch";
    case BodyLimit::item:
      break;
  }
  return "item";
}

}  // namespace penstock::front
