#include "wire/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <charconv>

#include "base/nearest.h"

namespace penstock::wire {
namespace {

std::unexpected<Error> no_address(std::string_view text) {
  return fail(ErrorKind::invalid,
              "must be ADDR:PORT with an IP address, such as 127.0.0.1:8080 or [::1]:8080, not " +
                  shown(text));
}

}  // namespace

bool ListenAddress::loopback() const noexcept {
  in_addr v4{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  if (::inet_pton(AF_INET6, address.c_str(), &v6) != 1) return false;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return v6.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&v6);
}

Result<ListenAddress> parse_listen(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return no_address(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return fail(
        ErrorKind::invalid,
        fmt::format("must end in a port from 0 to 65535 (0 = any free one), not {}", shown(text)));
  }
  if (host.empty() || host == "*") {
    return fail(ErrorKind::invalid,
                fmt::format("must name an IP address; for all of them write 0.0.0.0:{0} or "
                            "[::]:{0}",
                            port));
  }
  const bool bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  ListenAddress listen{host == "localhost" ? "127.0.0.1" : std::string(host), port};
  in6_addr ignored{};
  const int family = bracketed ? AF_INET6 : AF_INET;
  if (listen.address.find('\0') != std::string::npos ||
      ::inet_pton(family, listen.address.c_str(), &ignored) != 1) {
    return no_address(text);
  }
  return listen;
}

std::string format_listen(const ListenAddress& listen) {
  const bool v6 = listen.address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", listen.address, v6 ? "]" : "", listen.port);
}

}  // namespace penstock::wire
