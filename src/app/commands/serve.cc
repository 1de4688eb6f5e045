#include "app/commands/serve.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <thread>

#include "app/compose.h"
#include "app/service_manager.h"
#include "base/log.h"
#include "runtime/stopwatch.h"
#include "runtime/system_clock.h"

namespace penstock::app {
namespace {

// Blocked before any thread starts, so that every thread inherits it and only wait() sees them.
class StopSignals {
 public:
  StopSignals() noexcept {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);  // a peer that went away is an error of that write, no more
  }

  int wait() const noexcept {
    int number = 0;
    while (sigwait(&set_, &number) != 0) {
    }
    return number;
  }

  // From now on a further signal ends the process at once: whoever sends it does not want to wait.
  // Not within the first second, though: a terminal, `timeout` and init systems often signal both
  // the process and its group, and that is one wish, not two.
  void end_on_next() const {
    std::thread([set = *this, since = runtime::Stopwatch()] {
      for (;;) {
        const int number = set.wait();
        if (since.seconds() >= 1) _exit(128 + number);
      }
    }).detach();
  }

 private:
  sigset_t set_;
};

// The soft limit is often 1,024, far below the connections we promise; the hard one is ours to use.
void raise_file_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int serve(const Config& config, std::span<const sink::SinkExtension> extensions) {
  const StopSignals signals;
  raise_file_limit();
  const runtime::SystemClock clock;
  Log log(clock, STDERR_FILENO, config.log.level, config.log.format_for(STDERR_FILENO));
  auto daemon = Daemon::start(config, clock, log, extensions);
  if (!daemon) {
    log.error("daemon.start_failed", {{"error", daemon.error().what}});
    return 1;
  }
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

  const int signal = signals.wait();
  log.info("daemon.stopping", {{"signal", signal}});
  tell_service_manager(manager, "STOPPING=1");
  signals.end_on_next();
  const runtime::Stopwatch watch;
  daemon->reset();
  log.info("daemon.stopped", {{"seconds", watch.seconds()}});
  return 0;
}

}  // namespace penstock::app
