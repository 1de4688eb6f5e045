#include "engine/http/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "wire/percent.h"

namespace penstock::http {
namespace {

std::unexpected<Error> must_be_url() {
  return fail(ErrorKind::invalid,
              "must be the daemon's address, such as http://127.0.0.1:8080 or https://host/path");
}

bool is_path_character(char c) noexcept {
  return c > 0x20 && c < 0x7f && c != '?' && c != '#' && c != '"' && c != '\\';
}

}  // namespace

std::string Url::authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  const std::string name = v6 ? "[" + host + "]" : host;
  return port == (tls ? 443 : 80) ? name : fmt::format("{}:{}", name, port);
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  if (text.starts_with("https://")) {
    url.tls = true;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else {
    return must_be_url();
  }
  url.port = url.tls ? 443 : 80;

  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string_view path = text.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!std::ranges::all_of(path, is_path_character)) return must_be_url();
  url.base_path = path;

  std::string_view authority = text.substr(0, slash);
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  if (colon != authority.npos && (bracket == authority.npos || colon > bracket)) {
    const std::string_view port = authority.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc() || end != port.data() + port.size() || url.port == 0) {
      return must_be_url();
    }
    authority = authority.substr(0, colon);
  }
  const bool bracketed =
      authority.size() > 2 && authority.starts_with('[') && authority.ends_with(']');
  if (bracketed) authority = authority.substr(1, authority.size() - 2);
  const auto is_host_character = [&](char c) {
    return wire::is_unreserved(c) || (bracketed && (c == ':' || c == '%'));
  };
  if (authority.empty() || !std::ranges::all_of(authority, is_host_character)) {
    return must_be_url();
  }
  url.host = authority;
  return url;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  wire::append_percent_encoded(out, text);
  return out;
}

}  // namespace penstock::http
