#include "wire/percent.h"

#include <cstddef>

namespace penstock::wire {

void append_percent_byte(std::string& out, char byte) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  out += '%';
  out += kHex[value >> 4];
  out += kHex[value & 0xf];
}

bool percent_decode(std::string_view text, std::string& out) {
  out.clear();
  while (!text.empty()) {
    const std::size_t plain = text.find('%');
    out.append(text.substr(0, plain));
    if (plain == text.npos) return true;
    text.remove_prefix(plain);
    if (text.size() < 3) return false;
    const int high = hex_digit(text[1]);
    const int low = hex_digit(text[2]);
    if (high < 0 || low < 0) return false;
    out.push_back(static_cast<char>(high * 16 + low));
    text.remove_prefix(3);
  }
  return true;
}

void append_percent_encoded(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      append_percent_byte(out, c);
    }
  }
}

}  // namespace penstock::wire
