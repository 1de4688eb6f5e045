#include "wire/http/routes.h"

namespace penstock::wire {

std::string_view to_string(Access access) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"everyone", "open", "api", "admin"};
  return kNames[static_cast<std::size_t>(access)];
}

std::string_view to_string(BodyLimit limit) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"none", "single", "batch", "item"};
  return kNames[static_cast<std::size_t>(limit)];
}

}  // namespace penstock::wire
