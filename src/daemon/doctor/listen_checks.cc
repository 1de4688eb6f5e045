#include "daemon/doctor/listen_checks.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <system_error>

#include "daemon/config/values.h"
#include "daemon/doctor/sink_checks.h"
#include "runtime/system_clock.h"
#include "wire/json.h"

namespace penstock::daemon::doctor {
namespace {

constexpr const char* kHttp = "listen.http";
constexpr const char* kResp = "listen.resp";

// 0, or what bind() says. The socket is closed again at once; it never listens.
int try_bind(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return EADDRNOTAVAIL;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int problem = ::bind(fd, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
  ::close(fd);
  return problem;
}

// Where one asks who listens on all addresses.
std::string reachable(const std::string& address) {
  if (address == "0.0.0.0") return "127.0.0.1";
  return address == "::" ? "::1" : address;
}

Result<http::HttpAnswer> ask_health(const front::HttpOptions& http, const std::string& ca_file,
                                    const runtime::Deadline& deadline) {
  auto client = http::HttpClient::make({.url = {.tls = !http.tls_certificate_file.empty(),
                                                .host = reachable(http.address),
                                                .port = http.port,
                                                .base_path = {}},
                                        .token = http.tokens.admin,
                                        .ca_file = ca_file,
                                        .connect_timeout = deadline.remaining(),
                                        .answer_timeout = deadline.remaining()});
  if (!client) return std::unexpected(std::move(client.error()));
  return (*client)->call({.target = "/health/ready"});
}

// A certificate may vouch for itself, or the machine for it.
Result<http::HttpAnswer> ask_health(const front::HttpOptions& http,
                                    const runtime::Deadline& deadline) {
  Result<http::HttpAnswer> answer = ask_health(http, http.tls_certificate_file, deadline);
  if (answer || http.tls_certificate_file.empty()) return answer;
  return ask_health(http, "", deadline);
}

// The names and messages of what is down.
std::string downs_of(wire::JsonValue root) {
  std::string text;
  const wire::JsonValue checks = root.find("checks");
  if (!checks) return text;
  for (wire::JsonValue check = checks.first(); check; check = check.next()) {
    const wire::JsonValue status = check.find("status");
    const wire::JsonValue name = check.find("name");
    if (!status || !name || status.string() != "DOWN") continue;
    const wire::JsonValue message = check.find("message");
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name.string(),
                        message ? message.string() : "down");
  }
  return text;
}

std::string taken_fix(std::uint16_t port, std::string_view key) {
  return fmt::format("stop what has it (ss -ltnp 'sport = :{}'), or set another {}", port, key);
}

Findings check_certificate(const front::HttpOptions& http) {
  if (http.tls_certificate_file.empty()) return {};
  constexpr const char* kName = "listen.certificate";
  const Result<Instant> end = certificate_end(http.tls_certificate_file);
  if (!end) return {failed(kName, end.error().what, "put a PEM certificate chain there")};
  return {judge_certificate(kName, http.tls_certificate_file, *end, runtime::SystemClock().now())};
}

}  // namespace

HealthAnswer judge_health(const std::string& address, bool tls,
                          const Result<http::HttpAnswer>& answer) {
  const std::string fix = taken_fix(
      static_cast<std::uint16_t>(wire::parse_listen(address).value_or(wire::ListenAddress{}).port),
      "http.listen");
  if (!answer && tls) {
    return {Occupant::unknown,
            warning(kHttp,
                    fmt::format("{} is taken, and its health cannot be asked by that address: {}",
                                address, answer.error().what),
                    "ask by the name of its certificate: curl https://NAME:PORT/health/ready")};
  }
  if (!answer) {
    return {Occupant::unknown,
            failed(kHttp,
                   fmt::format("{} is taken, and /health/ready there cannot be asked: {}", address,
                               answer.error().what),
                   fix)};
  }
  if (answer->status == 401 || answer->status == 403) {
    return {
        Occupant::unknown,
        warning(kHttp,
                fmt::format("{} is taken by a server that wants another token than ours", address),
                "run this with the settings of the daemon that runs")};
  }
  const Result<wire::JsonDocument> document = wire::parse_json(answer->body);
  const bool ours = document && document->root().type() == wire::JsonType::object &&
                    document->root().find("status") && document->root().find("checks");
  if (!ours) {
    return {Occupant::unknown,
            failed(kHttp, fmt::format("{} is taken by another program", address), fix)};
  }
  if (answer->status == 200) {
    return {Occupant::penstock,
            ok(kHttp, fmt::format("{}: a penstock runs there and is ready", address))};
  }
  return {Occupant::penstock,
          failed(kHttp,
                 fmt::format("{}: a penstock runs there and is not ready: {}", address,
                             downs_of(document->root())),
                 "mend what it names, see docs/runbook.md; it goes on by itself then")};
}

Finding judge_bind(std::string name, const std::string& address, std::uint16_t port, int problem) {
  const std::string key = name == kHttp ? "http.listen" : "resp.listen";
  if (problem == 0) return ok(std::move(name), address + " is free");
  const std::string found =
      fmt::format("{}: {}", address, std::generic_category().message(problem));
  switch (problem) {
    case EACCES:
      return failed(std::move(name), found,
                    fmt::format("set a port above 1023 in {}, or give the service "
                                "AmbientCapabilities=CAP_NET_BIND_SERVICE",
                                key));
    case EADDRNOTAVAIL:
      return failed(std::move(name), found,
                    fmt::format("set an address of this machine in {} (ip address)", key));
    default:
      return failed(std::move(name), found, taken_fix(port, key));
  }
}

Finding judge_resp(const std::string& address, std::uint16_t port, int problem, Occupant other) {
  if (problem == EADDRINUSE && other == Occupant::penstock) {
    return ok(kResp, address + " is taken, as that of HTTP is by a penstock");
  }
  return judge_bind(kResp, address, port, problem);
}

bool is_http_free(const Config& config) {
  return config.http.port == 0 || try_bind(config.http.address, config.http.port) == 0;
}

Findings check_listen(const Config& config, const runtime::Deadline& deadline) {
  Findings findings;
  Occupant occupant = Occupant::nobody;
  const front::HttpOptions& http = config.http;
  const std::string address = wire::format_listen({http.address, http.port});
  const int problem = http.port == 0 ? 0 : try_bind(http.address, http.port);
  if (problem == EADDRINUSE) {
    HealthAnswer answer =
        judge_health(address, !http.tls_certificate_file.empty(), ask_health(http, deadline));
    occupant = answer.occupant;
    findings.push_back(std::move(answer.finding));
  } else {
    findings.push_back(judge_bind(kHttp, address, http.port, problem));
  }
  std::ranges::move(check_certificate(http), std::back_inserter(findings));
  if (config.resp.address.empty()) {
    findings.push_back(skipped(kResp, "resp.listen is not set"));
  } else {
    const std::string resp = wire::format_listen({config.resp.address, config.resp.port});
    const int taken = config.resp.port == 0 ? 0 : try_bind(config.resp.address, config.resp.port);
    findings.push_back(judge_resp(resp, config.resp.port, taken, occupant));
  }
  return findings;
}

}  // namespace penstock::daemon::doctor
