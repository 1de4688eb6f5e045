// Where a client command finds the daemon. Pure; safe on any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::http {

struct Url {
  bool tls = false;
  std::string host;  // name or address, IPv6 without brackets
  std::uint16_t port = 0;
  std::string base_path;  // in front of every target, without a slash at its end

  std::string authority() const;  // as the Host header wants it
  friend bool operator==(const Url&, const Url&) = default;
};

// `http://host[:port][/path]` or `https://…`; the error's `what` is a predicate.
Result<Url> parse_url(std::string_view text);

// One path segment or query value, so that `/` and `&` in it are data.
std::string percent_encoded(std::string_view text);

}  // namespace penstock::http
