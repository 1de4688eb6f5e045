#include "engine/mariadb/address.h"

#include <charconv>
#include <utility>

#include "wire/percent.h"

namespace penstock::store::mariadb {
namespace {

std::unexpected<Error> bad(std::string what) { return fail(ErrorKind::invalid, std::move(what)); }

// What stands before `mark`, which goes too; all of `text` when it is not there.
std::string_view take_before(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  const std::string_view before = text.substr(0, at);
  text = at == text.npos ? std::string_view() : text.substr(at + 1);
  return before;
}

Result<std::string> decoded(std::string_view text, const char* part) {
  std::string out;
  if (!wire::percent_decode(text, out) || out.find('\0') != out.npos) {
    return bad(std::string("the ") + part + " is not percent-encoded text");
  }
  return out;
}

Result<void> take_host(std::string_view text, Address& address) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return bad("the host has a [ without a ]");
    address.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return bad("only :port may stand behind the ]");
    if (!port.empty()) port.remove_prefix(1);
  } else {
    address.host = take_before(text, ':');
    port = text;
  }
  if (address.host.empty()) return bad("the host is missing");
  if (port.empty()) return {};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc{} || end != port.data() + port.size() || address.port == 0) {
    return bad("the port must be a number from 1 to 65535");
  }
  return {};
}

Result<void> take_option(std::string_view name, std::string value, Address& address) {
  if (name == "sslmode") {
    if (value == "disable") return address.tls = TlsMode::disable, Result<void>{};
    if (value == "require") return address.tls = TlsMode::require, Result<void>{};
    if (value == "verify-full") return address.tls = TlsMode::verify_full, Result<void>{};
    return bad("sslmode must be disable, require or verify-full");
  }
  if (name == "sslrootcert")
    return address.root_certificate_file = std::move(value), Result<void>{};
  if (name == "sslcert") return address.certificate_file = std::move(value), Result<void>{};
  if (name == "sslkey") return address.key_file = std::move(value), Result<void>{};
  return bad("unknown option \"" + std::string(name) +
             "\" (known: sslmode, sslrootcert, sslcert, sslkey)");
}

Result<void> take_user(std::string_view text, Address& address) {
  std::string user = PENSTOCK_TRY(decoded(take_before(text, ':'), "user"));
  std::string password = PENSTOCK_TRY(decoded(text, "password"));
  address.user = std::move(user);
  address.password = std::move(password);
  return {};
}

}  // namespace

Result<Address> parse_address(std::string_view url) {
  Address address;
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos ||
      (url.substr(0, scheme) != "mysql" && url.substr(0, scheme) != "mariadb")) {
    return bad("it must look like mysql://user@host:3306/database");
  }
  std::string_view options = url.substr(scheme + 3);
  std::string_view rest = take_before(options, '?');
  std::string_view database = rest;
  std::string_view host = take_before(database, '/');
  if (const std::size_t at = host.rfind('@'); at != host.npos) {
    PENSTOCK_TRY(take_user(host.substr(0, at), address));
    host.remove_prefix(at + 1);
  }
  PENSTOCK_TRY(take_host(host, address));
  std::string name = PENSTOCK_TRY(decoded(database, "database"));
  if (name.empty()) return bad("the database is missing: mysql://user@host:3306/database");
  address.database = std::move(name);
  while (!options.empty()) {
    std::string_view value = take_before(options, '&');
    const std::string_view option = take_before(value, '=');
    std::string plain = PENSTOCK_TRY(decoded(value, "value of an option"));
    PENSTOCK_TRY(take_option(option, std::move(plain), address));
  }
  return address;
}

}  // namespace penstock::store::mariadb
