#include "engine/redis/url.h"

#include <charconv>
#include <optional>

namespace penstock::store::redis {
namespace {

constexpr int kDatabaseMax = 1'000'000;
constexpr std::size_t kHostBytesMax = 253;

std::unexpected<Error> bad(std::string_view problem) { return invalid_field("url", problem); }

std::optional<int> number(std::string_view text, int max) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value < 0 || value > max) {
    return std::nullopt;
  }
  return value;
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return std::nullopt;
    out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
    i += 2;
  }
  return out;
}

bool valid_host(std::string_view host) {
  return !host.empty() && host.size() <= kHostBytesMax &&
         host.find_first_of("/@ \t\r\n") == host.npos;
}

// host, host:port, [v6] or [v6]:port.
bool parse_host(std::string_view text, Endpoint& endpoint) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return false;
    endpoint.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return false;
  } else {
    const std::size_t colon = text.find(':');
    endpoint.host = text.substr(0, colon);
    port = colon == text.npos ? std::string_view{} : text.substr(colon);
  }
  endpoint.port = 6379;
  if (!port.empty()) {
    const std::optional<int> value = number(port.substr(1), 65'535);
    if (!value || *value == 0) return false;
    endpoint.port = *value;
  }
  return valid_host(endpoint.host);
}

Result<void> parse_credentials(std::string_view text, RedisUrl& url) {
  const std::size_t colon = text.find(':');
  const std::optional<std::string> user = decoded(text.substr(0, colon));
  const std::optional<std::string> password =
      decoded(colon == text.npos ? std::string_view{} : text.substr(colon + 1));
  if (!user || !password) return bad("has a bad % sequence in the user or the password");
  url.user = *user;
  url.password = *password;
  return {};
}

}  // namespace

std::string Endpoint::text() const {
  const bool v6 = host.find(':') != host.npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<RedisUrl> parse_url(std::string_view text) {
  RedisUrl url;
  if (text.starts_with("rediss://")) {
    url.tls = true;
    text.remove_prefix(9);
  } else if (text.starts_with("redis://")) {
    text.remove_prefix(8);
  } else {
    return bad("must start with redis:// or rediss://");
  }
  if (const std::size_t at = text.rfind('@'); at != text.npos) {
    PENSTOCK_TRY(parse_credentials(text.substr(0, at), url));
    text.remove_prefix(at + 1);
  }
  if (const std::size_t slash = text.find('/'); slash != text.npos) {
    const std::string_view database = text.substr(slash + 1);
    const std::optional<int> value = database.empty() ? 0 : number(database, kDatabaseMax);
    if (!value) return bad("must end with the number of a database, or nothing, after the /");
    url.database = *value;
    text = text.substr(0, slash);
  }
  for (;;) {
    const std::size_t comma = text.find(',');
    Endpoint endpoint;
    if (!parse_host(text.substr(0, comma), endpoint)) return bad("must name a host and a port");
    url.endpoints.push_back(std::move(endpoint));
    if (comma == text.npos) return url;
    text.remove_prefix(comma + 1);
  }
}

bool parse_endpoint(std::string_view text, Endpoint& endpoint) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return false;
  std::string_view host = text.substr(0, colon);
  const std::optional<int> port = number(text.substr(colon + 1), 65'535);
  if (!port || *port == 0) return false;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  endpoint = {.host = std::string(host), .port = *port};
  return host.empty() || valid_host(host);
}

}  // namespace penstock::store::redis
