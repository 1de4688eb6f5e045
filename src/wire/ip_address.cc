#include "wire/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <span>

namespace penstock::wire {
namespace {

constexpr std::array<std::uint8_t, 12> kV4Prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::size_t kV4Offset = 96;  // bits before the IPv4 part

}  // namespace

bool IpAddress::is_v4() const noexcept {
  return std::ranges::equal(kV4Prefix, std::span(bytes).first<12>());
}

IpAddress IpAddress::prefix(std::size_t bits) const noexcept {
  IpAddress out = *this;
  for (std::size_t i = 0; i < out.bytes.size(); ++i) {
    const std::size_t kept = bits > i * 8 ? std::min<std::size_t>(bits - i * 8, 8) : 0;
    out.bytes[i] &= static_cast<std::uint8_t>(0xff00U >> kept);
  }
  return out;
}

std::optional<IpAddress> parse_ip_address(std::string_view text) noexcept {
  if (text.size() > 2 && text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    if (text.find(':') == text.npos) return std::nullopt;
  }
  char terminated[INET6_ADDRSTRLEN] = {};
  if (text.empty() || text.size() >= sizeof terminated || text.find('\0') != text.npos) {
    return std::nullopt;
  }
  std::ranges::copy(text, terminated);
  IpAddress address;
  if (text.find(':') == text.npos) {
    std::ranges::copy(kV4Prefix, address.bytes.begin());
    if (::inet_pton(AF_INET, terminated, &address.bytes[kV4Offset / 8]) != 1) return std::nullopt;
  } else if (::inet_pton(AF_INET6, terminated, address.bytes.data()) != 1) {
    return std::nullopt;
  }
  return address;
}

void append_ip_address(std::string& out, const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.is_v4()) {
    ::inet_ntop(AF_INET, &address.bytes[kV4Offset / 8], text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
  }
  out += text;
}

std::optional<CidrBlock> parse_cidr_block(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  const auto address = parse_ip_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  CidrBlock block{.address = *address};
  if (slash == text.npos) return block;
  const bool v4 = text.substr(0, slash).find(':') == text.npos;
  const std::string_view digits = text.substr(slash + 1);
  std::size_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (bits > (v4 ? 32 : 128)) return std::nullopt;
  block.bits = bits + (v4 ? kV4Offset : 0);
  if (block.address.prefix(block.bits) != block.address) return std::nullopt;
  return block;
}

}  // namespace penstock::wire
