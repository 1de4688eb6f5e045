#include "front/http/server/request_guard.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/ascii.h"

namespace penstock::front {
namespace {

constexpr wire::Refusal kWrongHost{
    421,
    "the Host is neither a loopback name, nor an address of this daemon, nor in "
    "http.allowed-hosts"};
constexpr wire::Refusal kForeignPage{
    403, "the request comes from a page of another site, which is not in http.allowed-origins"};
constexpr wire::Refusal kTooManyGuesses{429, "too many wrong tokens came from this address"};
constexpr wire::Refusal kNoToken{401, "a valid bearer token is needed"};
constexpr wire::Refusal kNoType{415, "the body has no Content-Type"};

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::size_t kNameBytesMax = 253;  // of DNS

struct Authority {
  std::string_view name;  // IPv6 in its brackets
  std::string_view port;  // empty = none
};

std::optional<Authority> split_host(std::string_view host) noexcept {
  std::size_t end = host.find(':');
  if (host.starts_with('[')) {
    end = host.find(']');
    if (end == host.npos) return std::nullopt;
    ++end;
  }
  if (end >= host.size()) return Authority{host, {}};
  const std::string_view port = host.substr(end + 1);
  if (host[end] != ':' || port.empty() || port.size() > 5) return std::nullopt;
  if (!std::ranges::all_of(port, is_digit)) return std::nullopt;
  return Authority{host.substr(0, end), port};
}

bool is_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kNameBytesMax) return false;
  if (name.starts_with('[')) return wire::parse_ip_address(name).has_value();
  return std::ranges::all_of(name, [](char c) {
    const char low = ascii_lower(c);
    return (low >= 'a' && low <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

// Browsers take these for this machine, whatever a name server says.
bool is_localhost(std::string_view name) noexcept {
  constexpr std::string_view kSuffix = ".localhost";
  if (ascii_equal(name, kSuffix.substr(1))) return true;
  return name.size() > kSuffix.size() &&
         ascii_equal(name.substr(name.size() - kSuffix.size()), kSuffix);
}

bool is_loopback(const wire::IpAddress& address) noexcept {
  if (address.is_v4()) return address.bytes[12] == 127;
  wire::IpAddress one;
  one.bytes.back() = 1;
  return address == one;
}

bool is_wildcard(const std::optional<wire::IpAddress>& address) noexcept {
  if (!address) return false;
  const auto first = address->is_v4() ? address->bytes.begin() + 12 : address->bytes.begin();
  return std::all_of(first, address->bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

bool changes_state(Method method) noexcept {
  return method != Method::get && method != Method::head && method != Method::options;
}

// What one pass over the headers finds.
struct Said {
  std::string_view host;
  bool has_host = false;
  bool has_type = false;
  bool cross_site = false;
  std::string_view origin;
  bool has_origin = false;
  bool many_origins = false;
};

Said read_headers(const Request& request) noexcept {
  Said said;
  for (const auto& [name, value] : request.headers) {
    // Most headers differ in length from all of these already.
    switch (name.size()) {
      case 4:
        if (ascii_equal(name, "host")) {
          said.host = value;
          said.has_host = true;
        }
        break;
      case 6:
        if (ascii_equal(name, "origin")) {
          said.many_origins = std::exchange(said.has_origin, true);
          said.origin = value;
        }
        break;
      case 12:
        if (ascii_equal(name, "content-type")) said.has_type = said.has_type || !value.empty();
        break;
      case 14:
        if (ascii_equal(name, "sec-fetch-site") && ascii_equal(value, "cross-site")) {
          said.cross_site = true;
        }
        break;
      default:
        break;
    }
  }
  return said;
}

}  // namespace

RequestGuard::RequestGuard(const std::string& address, bool tls, GuardRules rules)
    : address_(wire::parse_ip_address(address)),
      wildcard_(is_wildcard(address_)),
      tls_(tls),
      rules_(std::move(rules)) {}

std::optional<wire::Refusal> RequestGuard::judge(const Request& request,
                                                 const GuardFacts& facts) const noexcept {
  if (facts.speaks_for_others) {
    if (facts.waits) return kTooManyGuesses;
    return facts.opened ? std::nullopt : std::optional(kNoToken);
  }
  const Said said = read_headers(request);
  const bool by_any_name =
      facts.guarded || (facts.access == Access::open && rules_.open_routes_by_any_name);
  // HTTP/1.0 may leave the Host out; no browser does.
  if (!by_any_name && said.has_host && !is_host_known(said.host, facts.local_address)) {
    return kWrongHost;
  }
  if (changes_state(request.method)) {
    const bool listed =
        said.has_origin && !said.many_origins && is_origin_known(said.origin, said.host);
    if ((said.has_origin || said.cross_site) && !listed) return kForeignPage;
  }
  if (facts.waits) return kTooManyGuesses;
  if (!facts.opened) return kNoToken;
  if (facts.has_body && !said.has_type) return kNoType;
  return std::nullopt;
}

// The port does not matter: a page cannot choose which address its own name stands for by port.
bool RequestGuard::is_host_known(std::string_view host,
                                 std::string_view local_address) const noexcept {
  const std::optional<Authority> asked = split_host(host);
  if (!asked) return false;
  if (is_localhost(asked->name)) return true;
  if (const auto ip = wire::parse_ip_address(asked->name)) {
    if (is_loopback(*ip) || ip == address_) return true;
    if (wildcard_ && ip == wire::parse_ip_address(local_address)) return true;
  }
  return std::ranges::any_of(rules_.allowed_hosts, [&](const std::string& allowed) {
    return ascii_equal(allowed, host) || ascii_equal(allowed, asked->name);
  });
}

// The daemon's own pages have the Host of the request as their origin. On routes without a token
// the Host was judged before, so a page that lets its own name point here is not one of ours; on
// the others such a page has no token. A proxy in front may add TLS, but nobody takes it away.
bool RequestGuard::is_origin_known(std::string_view origin, std::string_view host) const noexcept {
  const auto listed = [&](const std::string& allowed) { return ascii_equal(allowed, origin); };
  if (std::ranges::any_of(rules_.allowed_origins, listed)) return true;
  const bool secure = ascii_equal(origin.substr(0, kHttps.size()), kHttps);
  if (!secure && (tls_ || !ascii_equal(origin.substr(0, kHttp.size()), kHttp))) return false;
  const std::string_view owner = origin.substr(secure ? kHttps.size() : kHttp.size());
  if (owner.empty()) return false;
  if (ascii_equal(owner, host)) return true;
  // Origins leave the usual port out, and a Host may name it.
  const std::string_view usual = secure ? ":443" : ":80";
  return host.ends_with(usual) && ascii_equal(owner, host.substr(0, host.size() - usual.size()));
}

bool is_host(std::string_view text) noexcept {
  const std::optional<Authority> parts = split_host(text);
  if (!parts || !is_name(parts->name)) return false;
  std::uint16_t port = 1;
  if (!parts->port.empty()) {
    const char* const end = parts->port.data() + parts->port.size();
    if (std::from_chars(parts->port.data(), end, port).ec != std::errc{}) return false;
  }
  return port != 0;
}

bool is_origin(std::string_view text) noexcept {
  for (const std::string_view scheme : {kHttp, kHttps}) {
    if (text.starts_with(scheme)) return is_host(text.substr(scheme.size()));
  }
  return false;
}

}  // namespace penstock::front
