#include "wire/http_url.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "wire/base64.h"
#include "wire/ip_address.h"

namespace penstock::wire {
namespace {

constexpr std::size_t kHostBytesMax = 253;  // of the domain name system
constexpr std::size_t kLabelBytesMax = 63;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Underscores are in no host name by the book, and in many by habit of container networks.
bool is_label(std::string_view label) {
  if (label.empty() || label.size() > kLabelBytesMax) return false;
  if (label.starts_with('-') || label.ends_with('-')) return false;
  return std::ranges::all_of(
      label, [](char c) { return is_digit(c) || is_letter(c) || c == '-' || c == '_'; });
}

bool is_host_name(std::string_view host) {
  if (host.size() > kHostBytesMax) return false;
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string_view label;
  for (std::size_t at = 0; at <= host.size(); at += label.size() + 1) {
    label = host.substr(at, host.find('.', at) - at);
    if (!is_label(label)) return false;
  }
  // What ends in a number is meant as an address: `127.1` must not become 127.0.0.1 by a resolver's
  // kindness.
  return !std::ranges::all_of(label, is_digit) && !label.starts_with("0x") &&
         !label.starts_with("0X");
}

// The canonical spelling; nothing when it is no host.
std::optional<std::string> read_host(std::string_view text) {
  std::string host;
  if (text.starts_with('[')) {
    const auto address = parse_ip_address(text);
    if (!address || text.find('.') != text.npos || address->is_v4()) return std::nullopt;
    append_ip_address(host, *address);
    // An IPv4 address in an IPv6 one, of the form that was given up long ago: nobody means it.
    if (host.find('.') != host.npos) return std::nullopt;
    return host;
  }
  if (text.find(':') != text.npos) return std::nullopt;
  if (const auto address = parse_ip_address(text)) {
    append_ip_address(host, *address);
    return host;
  }
  if (!is_host_name(text)) return std::nullopt;
  std::ranges::transform(text, std::back_inserter(host), ascii_lower);
  return host;
}

std::optional<std::uint16_t> read_port(std::string_view digits) {
  std::uint16_t port = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, port);
  if (error != std::errc{} || stopped != end || port == 0) return std::nullopt;
  return port;
}

std::unexpected<Error> problem(std::string_view predicate) {
  return fail(ErrorKind::invalid, std::string(predicate));
}

}  // namespace

std::string HttpUrl::authority() const {
  std::string out = host.find(':') == host.npos ? host : "[" + host + "]";
  if (port != (tls ? 443 : 80)) out += ":" + std::to_string(port);
  return out;
}

Result<HttpUrl> parse_http_url(std::string_view text) {
  HttpUrl url;
  if (text.size() > kHttpUrlBytesMax) return problem("must be at most 2000 characters");
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; })) {
    return problem("must be printable ASCII without spaces");
  }
  if (text.starts_with("https://")) {
    url.tls = true;
  } else if (!text.starts_with("http://")) {
    return problem("must be an http:// or https:// address");
  }
  text.remove_prefix(url.tls ? 8 : 7);
  if (text.find('#') != text.npos) return problem("must have no fragment (#…)");
  const std::size_t authority_end = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, authority_end);
  if (authority.find('@') != authority.npos) return problem("must have no user or password");
  url.port = url.tls ? 443 : 80;
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  if (colon != authority.npos && (bracket == authority.npos || colon > bracket)) {
    const std::optional<std::uint16_t> port = read_port(authority.substr(colon + 1));
    if (!port) return problem("must have a port from 1 to 65535");
    url.port = *port;
    authority = authority.substr(0, colon);
  }
  std::optional<std::string> host = read_host(authority);
  if (!host) return problem("must have a host name or an IP address");
  url.host = std::move(*host);
  const std::string_view target = text.substr(authority_end);
  url.target = target.starts_with('/') ? "" : "/";
  url.target += target;
  return url;
}

Result<std::string> parse_webhook_secret(std::string_view text) {
  constexpr std::string_view kPrefix = "whsec_";
  if (!text.starts_with(kPrefix)) return std::string(text);
  constexpr std::size_t kKeyBytesMin = 16;  // as many as any other secret
  std::optional<std::string> key = decode_base64(text.substr(kPrefix.size()));
  if (!key || key->size() < kKeyBytesMin) {
    return problem("must have base64 of at least 16 bytes behind whsec_");
  }
  return std::move(*key);
}

}  // namespace penstock::wire
