#include "daemon/doctor/checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "daemon/config/values.h"
#include "engine/rocksdb/format.h"
#include "runtime/clocks.h"
#include "wire/json.h"

namespace penstock::daemon::doctor {
namespace {

// Opening alone may write 37 MiB (engine/rocksdb/folder.cc).
constexpr std::uint64_t kFreeBytesMin = 64 * kMiB;
// About ten million slots, and what compaction needs beside them.
constexpr std::uint64_t kFreeBytesLow = 1024 * kMiB;

// To end the table at hand, of at most 64 MiB, and to say so.
constexpr Millis kReport{1'000};

bool is_used(const Config& config) {
  return config.slots.store == StoreChoice::embedded ||
         config.throttle.store == StoreChoice::embedded ||
         config.dispatch.store == StoreChoice::embedded;
}

std::filesystem::path nearest_there(std::filesystem::path path) {
  std::error_code ignored;
  path = std::filesystem::absolute(path, ignored);
  while (!std::filesystem::exists(path, ignored) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

DiskView look_at_disk(const std::filesystem::path& folder) {
  const std::filesystem::path place = nearest_there(folder);
  DiskView view{.place = place.string()};
  std::error_code ignored;
  if (!std::filesystem::is_directory(place, ignored)) {
    view.problem = ENOTDIR;
  } else if (::faccessat(AT_FDCWD, place.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    view.problem = errno;
  }
  struct statvfs disk{};
  if (::statvfs(place.c_str(), &disk) == 0) {
    view.free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  }
  return view;
}

std::string user_name() {
  const passwd* const user = ::getpwuid(::geteuid());
  return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

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
  const auto client =
      PENSTOCK_TRY(http::HttpClient::make({.url = {.tls = !http.tls_certificate_file.empty(),
                                                   .host = reachable(http.address),
                                                   .port = http.port,
                                                   .base_path = {}},
                                           .token = http.tokens.admin,
                                           .ca_file = ca_file,
                                           .connect_timeout = deadline.remaining(),
                                           .answer_timeout = deadline.remaining()}));
  return client->call({.target = "/health/ready"});
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

Finding judge_access(const std::string& folder, bool exists, const DiskView& disk,
                     const std::string& who) {
  constexpr const char* kName = "folder.access";
  if (disk.problem != 0) {
    return failed(
        kName,
        fmt::format("{} may not write to {}: {}", who, disk.place,
                    std::generic_category().message(disk.problem)),
        disk.problem == EROFS
            ? "mount it for writing, or set another data-dir"
            : fmt::format("install -d -o {} -m 0700 {}, or set another data-dir", who, folder));
  }
  return ok(kName, exists ? fmt::format("{} may write to {}", who, folder)
                          : fmt::format("{} is not there yet, and {} may make it", folder, who));
}

Finding judge_mode(const std::string& folder,
                   const std::optional<store::embedded::OpenFolder>& open, bool empty) {
  constexpr const char* kName = "folder.mode";
  if (!open) return ok(kName, "only its user may look into it");
  if (empty) return ok(kName, "empty; the daemon closes it to other users");
  return warning(
      kName, fmt::format("other users may look into {}: its mode is {:04o}", folder, open->mode),
      open->fix);
}

Finding judge_disk(const std::string& folder, const DiskView& disk) {
  return graded("folder.space", disk.free_bytes < kFreeBytesMin, disk.free_bytes < kFreeBytesLow,
                fmt::format("{} MiB free for {}", disk.free_bytes / kMiB, folder),
                "free space on its disk (slots.retention.keep, penstock slots prune), or set "
                "another data-dir");
}

Finding judge_lock(std::optional<long> holder, bool http_free) {
  constexpr const char* kName = "folder.lock";
  if (!holder) return ok(kName, "no process uses it");
  const std::string who = *holder > 0 ? fmt::format("process {}", *holder) : "another process";
  if (!http_free) return ok(kName, who + " uses it");
  return warning(kName,
                 who + " uses it, and nobody listens on http.listen: a daemon would not start",
                 fmt::format("end {}, or set another data-dir", who));
}

Findings judge_folder(const std::string& folder, const Result<store::embedded::FolderView>& view,
                      std::uint32_t known, bool http_free) {
  constexpr const char* kSchema = "folder.schema";
  if (!view) {
    return {failed(kSchema, view.error().what,
                   view.error().kind == ErrorKind::corrupt
                       ? "restore the folder from a backup"
                       : "stop the daemon and run this again; see docs/operations.md, Disk")};
  }
  Findings findings;
  findings.push_back(judge_lock(view->holder, http_free));
  if (!view->has_database) {
    findings.push_back(ok(kSchema, "empty; the daemon makes it"));
  } else if (!view->schema) {
    findings.push_back(warning(kSchema, folder + " has files and no schema version",
                               "restore the folder from a backup, or set another data-dir"));
  } else if (*view->schema == known) {
    findings.push_back(ok(kSchema, fmt::format("version {}", known)));
  } else if (*view->schema > known) {
    findings.push_back(
        failed(kSchema, fmt::format("version {}, this program knows {}", *view->schema, known),
               "start the newer penstock that wrote it, or set another data-dir"));
  } else {
    findings.push_back(warning(
        kSchema, fmt::format("version {}, this program brings it to {}", *view->schema, known),
        fmt::format("copy the folder, then run: penstock migrate --data-dir {}", folder)));
  }
  return findings;
}

Finding judge_data(const std::string& folder, const Result<store::embedded::Verdict>& verdict) {
  constexpr const char* kName = "folder.data";
  if (!verdict) {
    if (verdict.error().kind == ErrorKind::corrupt) {
      return failed(kName, verdict.error().what, "restore the folder from a backup");
    }
    return skipped(kName, verdict.error().what);
  }
  const std::string see_all = "see all that is wrong: penstock verify " + folder;
  if (verdict->loss) return failed(kName, *verdict->loss, see_all);
  if (!verdict->damaged.empty()) {
    return failed(kName,
                  fmt::format("{} of {} tables are damaged: {}", verdict->damaged.size(),
                              verdict->read.tables, verdict->damaged.front()),
                  "restore the folder from a backup; " + see_all);
  }
  const std::string read =
      fmt::format("{} of {} MiB", verdict->read.bytes / kMiB, verdict->read.bytes_total / kMiB);
  return ok(kName, verdict->complete()
                       ? fmt::format("tables ({}), logs and seal are whole", read)
                       : fmt::format("logs and seal are whole, and so are the {} of tables that "
                                     "could be read in time; for the rest: penstock verify {}",
                                     read, folder));
}

Findings check_folder(const Config& config, const runtime::Deadline& deadline) {
  if (!is_used(config)) return {skipped("folder", "nothing is kept in the embedded store")};
  const std::string folder = config.data_dir.string();
  const DiskView disk = look_at_disk(config.data_dir);
  std::error_code ignored;
  const bool exists = std::filesystem::is_directory(config.data_dir, ignored);
  Findings findings = {judge_access(folder, exists, disk, user_name()), judge_disk(folder, disk)};
  if (!exists) return findings;
  findings.push_back(judge_mode(folder, store::embedded::open_to_others(config.data_dir),
                                std::filesystem::is_empty(config.data_dir, ignored)));
  append(findings, judge_folder(folder, store::embedded::inspect_folder(config.data_dir),
                                store::embedded::kSchemaVersion, is_http_free(config)));
  if (std::filesystem::exists(config.data_dir / "CURRENT", ignored)) {
    findings.push_back(judge_data(
        folder, store::embedded::verify_folder(
                    config.data_dir, [&](const auto&) { return deadline.remaining() > kReport; })));
  }
  return findings;
}

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
  append(findings, check_certificate(http));
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
