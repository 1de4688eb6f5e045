#include "daemon/commands/commands.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "base/log.h"
#include "cli/exit_code.h"
#include "daemon/commands/config_options.h"
#include "daemon/compose/daemon.h"
#include "daemon/compose/open_files.h"
#include "runtime/clocks.h"

namespace penstock::daemon {
namespace {

// Gives the settings as they are now, or what is wrong with them; for SIGHUP.
using RereadConfig = std::function<std::expected<LoadedConfig, std::vector<std::string>>()>;

// Blocked before any thread starts, so that every thread inherits it and only wait() sees them.
class Signals {
 public:
  Signals() noexcept {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGHUP);
    sigaddset(&set_, SIGUSR1);
    sigaddset(&set_, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);  // a peer that went away is an error of that write, no more
  }

  int wait() const noexcept {
    int number = 0;
    while (sigwait(&set_, &number) != 0) {
    }
    return number;
  }

  static bool is_stop(int number) noexcept { return number == SIGTERM || number == SIGINT; }

  // From now on a further signal ends the process at once: whoever sends it does not want to wait.
  // Not within the first second, though: a terminal, `timeout` and init systems often signal both
  // the process and its group, and that is one wish, not two.
  void end_on_next() const {
    std::thread([set = *this, since = runtime::Stopwatch()] {
      for (;;) {
        const int number = set.wait();
        if (is_stop(number) && since.seconds() >= 1) _exit(128 + number);
      }
    }).detach();
  }

 private:
  sigset_t set_;
};

// The soft limit is often 1,024, far below the connections we promise; the hard one is ours to use.
// Gives what is allowed then.
std::uint64_t raise_file_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return UINT64_MAX;
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

// Lowers the limits of connections to what is left of the open files, and says so.
Result<void> fit_to_files(Config& config, Log& log) {
  const std::uint64_t allowed = raise_file_limit();
  const FileNeeds needs = file_needs_of(config);
  const FileShares shares = PENSTOCK_TRY(share_files(needs, allowed));
  apply(shares, config);
  if (shares.http == needs.http && shares.resp == needs.resp) return {};
  log.warn("daemon.connections_lowered", {{"files_allowed", allowed},
                                          {"files_reserved", shares.reserved},
                                          {"http_connections_max", shares.http},
                                          {"resp_connections_max", shares.resp},
                                          {"fix", more_files(needs)}});
  return {};
}

// One name that says what differs, for the log; no secret in it.
std::string changes(const Config& before, const Config& after) {
  std::string text;
  const auto add = [&](bool changed, std::string_view name) {
    if (!changed) return;
    if (!text.empty()) text += ", ";
    text += name;
  };
  add(before.http.tokens.admin != after.http.tokens.admin, "admin token");
  add(before.http.tokens.api != after.http.tokens.api, "api token");
  add(before.resp.password != after.resp.password, "resp password");
  add(before.log.level != after.log.level, "log level");
  return text.empty() ? "nothing" : text;
}

// Takes over what may change while the daemon runs. On a problem all stays as it is.
void reload(Config& current, const RereadConfig& reread, Daemon& daemon, Log& log) {
  const auto read = reread();
  if (!read) {
    for (const std::string& problem : read.error()) {
      log.error("daemon.reload_failed", {{"error", problem}});
    }
    return;
  }
  const Config& next = read->config;
  if (Result<void> renewed = daemon.renew(next); !renewed) {
    return log.error("daemon.reload_failed", {{"error", renewed.error().what}});
  }
  const std::string changed = changes(current, next);
  const bool tls = !next.http.tls_certificate_file.empty();
  current.http.tokens = next.http.tokens;
  current.resp.password = next.resp.password;
  const LogLevel before = std::exchange(current.log.level, next.log.level);
  // At the more talkative of the two levels, so that the way to a quiet log is in it.
  log.set_level(std::min(before, next.log.level));
  log.info("daemon.reloaded", {{"changed", changed}, {"certificate_read", tls}});
  log.set_level(next.log.level);
}

// Serves signals until one says stop; gives that one.
int wait_for_stop(const Signals& signals, Config& current, const RereadConfig& reread,
                  Daemon& daemon, Log& log, const char* manager) {
  for (;;) {
    const int number = signals.wait();
    if (Signals::is_stop(number)) return number;
    if (number == SIGHUP) {
      tell_service_manager(manager, "RELOADING=1");
      reload(current, reread, daemon, log);
      tell_service_manager(manager, "READY=1");
    } else {
      log.info("daemon.signal_ignored", {{"signal", number}});
    }
  }
}

void log_warnings(const LoadedConfig& loaded) {
  const runtime::SystemClock clock;
  const LogConfig& settings = loaded.config.log;
  Log log(clock, STDERR_FILENO, settings.level, settings.format_for(STDERR_FILENO));
  for (const std::string& warning : loaded.warnings) {
    log.warn("config.warning", {{"warning", warning}});
  }
}

// Blocks until the daemon is told to stop; gives the exit code of the process.
int serve(Config config, const RereadConfig& reread,
          std::span<const sink::MakeExtension> extensions) {
  const Signals signals;
  umask(S_IRWXG | S_IRWXO);  // what it writes holds payments, numbers and secrets of sinks
  const runtime::SystemClock clock;
  Log log(clock, STDERR_FILENO, config.log.level, config.log.format_for(STDERR_FILENO));
  const auto failed = [&](const Error& error) {
    log.error("daemon.start_failed", {{"error", error.what}});
    return 1;
  };
  if (const Result<void> fits = fit_to_files(config, log); !fits) return failed(fits.error());
  auto daemon = Daemon::start(config, clock, log, extensions);
  if (!daemon) return failed(daemon.error());
  const std::string address = (*daemon)->http_address();
  const std::string resp = (*daemon)->resp_address();
  log.info("daemon.ready", {{"version", PENSTOCK_VERSION},
                            {"http", address},
                            {"resp", resp.empty() ? "off" : resp},
                            {"data_dir", config.data_dir.string()},
                            {"pid", static_cast<int>(getpid())}});
  std::printf("ready http=%s%s%s\n", address.c_str(), resp.empty() ? "" : " resp=", resp.c_str());
  std::fflush(stdout);
  const char* const manager = std::getenv("NOTIFY_SOCKET");
  tell_service_manager(manager, "READY=1\nSTATUS=Serving HTTP on " + address);

  const int signal = wait_for_stop(signals, config, reread, **daemon, log, manager);
  log.info("daemon.stopping", {{"signal", signal}});
  tell_service_manager(manager, "STOPPING=1");
  signals.end_on_next();
  const runtime::Stopwatch watch;
  daemon->reset();
  log.info("daemon.stopped", {{"seconds", watch.seconds()}});
  return 0;
}

}  // namespace

bool tell_service_manager(const char* socket, std::string_view state) noexcept {
  if (socket == nullptr) return false;
  const std::string_view name(socket);
  sockaddr_un address{};
  if (name.size() < 2 || name.size() >= sizeof(address.sun_path)) return false;
  if (name[0] != '/' && name[0] != '@') return false;
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path);
  if (name[0] == '@') address.sun_path[0] = '\0';  // a name that is no file
  const int file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return false;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const ssize_t sent = ::sendto(file, state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  ::close(file);
  return sent == static_cast<ssize_t>(state.size());
}

void add_serve(cli::Command root, std::span<const sink::MakeExtension> extensions) {
  cli::Command command = root.add(
      "serve",
      "Run the daemon until SIGTERM or Ctrl-C.\n"
      "Prints `ready http=ADDR:PORT`, and ` resp=ADDR:PORT` if Redis clients are served, on "
      "standard "
      "output once it serves; logs go to standard error.\n"
      "Settings come from the file, then PENSTOCK_* variables, then flags; later ones win.",
      {"penstock serve", "penstock serve --data-dir /var/lib/penstock --http 127.0.0.1:9000",
       "penstock serve --config penstock.yaml --admin-token-file admin.token"});
  const auto options = std::make_shared<ConfigOptions>();
  options->add_to(command);
  command.action([options, extensions] {
    const std::optional<LoadedConfig> loaded = options->load(true);
    if (!loaded) return static_cast<int>(cli::kExitUsage);
    log_warnings(*loaded);
    return serve(loaded->config, [options] { return options->try_load(true); }, extensions);
  });
}

}  // namespace penstock::daemon
