#include "core/policy/throttle_key.h"

#include "base/utf8.h"

namespace penstock::core {
namespace {

// U+0080 to U+009F, the control characters beyond ASCII, are c2 80 to c2 9f.
bool is_c1_control(std::string_view sequence) noexcept {
  return static_cast<unsigned char>(sequence[0]) == 0xc2 &&
         static_cast<unsigned char>(sequence[1]) < 0xa0;
}

}  // namespace

std::string_view throttle_key_problem(std::string_view text) noexcept {
  if (text.empty()) return "must not be empty";
  if (text.size() > kThrottleKeyBytesMax) return "must have at most 512 bytes";
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      if (byte < 0x20 || byte == 0x7f) return "must not contain control characters";
      ++i;
      continue;
    }
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) return "must be UTF-8";
    if (is_c1_control(text.substr(i, length))) return "must not contain control characters";
    i += length;
  }
  return {};
}

}  // namespace penstock::core
