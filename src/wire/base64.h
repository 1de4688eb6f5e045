// Base64 of RFC 4648 with padding. Pure; any text gives bytes or nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock::wire {

void append_base64(std::string& out, std::string_view bytes);

// Strict: the padding is there, bits behind the last byte are clear, nothing else is in the text.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace penstock::wire
