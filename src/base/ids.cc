#include "base/ids.h"

#include <algorithm>

namespace penstock {

std::string_view id_problem(std::string_view text) noexcept {
  if (text.empty()) return "must not be empty";
  if (text.size() > kIdBytesMax) return "must have at most 128 characters";
  const bool printable =
      std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (!printable) return "must be printable ASCII without spaces";
  return {};
}

}  // namespace penstock
