#include "daemon/doctor/checks.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timex.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <variant>

#include "base/iso8601.h"
#include "runtime/clocks.h"
#include "runtime/memory_budget.h"

namespace penstock::daemon::doctor {
namespace {

// Before this no Penstock was made; what is later than the API accepts is a clock that was never
// set.
constexpr Instant kWallMin = from_epoch_millis(1'735'689'600'000);  // 2025-01-01

// front/http/server/listener.cc, front/resp/server.cc
constexpr std::uint64_t kBacklog = 4'096;

// docs/operations.md: about 120 bytes a key. During an outage of a shared engine a node decides
// about at most half a million alone (daemon/compose/throttle.cc).
constexpr std::uint64_t kKeyBytes = 120;
constexpr std::uint64_t kLocalKeysMax = 500'000;
constexpr std::uint64_t kWriteBufferBytes = 36 * kMiB;
// The program, its threads and buffers of connections that do little.
constexpr std::uint64_t kBaseBytes = 64 * kMiB;

std::string first_line(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<std::uint64_t> number_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{}) return std::nullopt;
  return number;
}

bool steady_clock_goes_back() {
  constexpr int kReads = 100'000;  // some milliseconds
  auto last = std::chrono::steady_clock::now();
  for (int i = 0; i < kReads; ++i) {
    const auto now = std::chrono::steady_clock::now();
    if (now < last) return true;
    last = now;
  }
  return false;
}

Finding judge_wall(const ClockView& view) {
  const std::string found = format_instant(view.wall);
  if (view.wall >= kWallMin && view.wall < kInstantEnd) return ok("clock.wall", found);
  return failed("clock.wall", found + ": this cannot be now",
                "set the clock: timedatectl set-ntp true");
}

Finding judge_ntp(const ClockView& view) {
  constexpr const char* kName = "clock.ntp";
  if (!view.synchronised) return skipped(kName, "the kernel does not say");
  if (*view.synchronised) {
    return ok(kName, fmt::format("synchronised, at most {:.3f} s off",
                                 static_cast<double>(view.error_max.count()) / 1e6));
  }
  return warning(kName, "the kernel does not take its clock for synchronised",
                 "install chrony or run: timedatectl set-ntp true");
}

Finding judge_steady(const ClockView& view) {
  constexpr const char* kName = "clock.steady";
  if (view.went_back) {
    return failed(kName, "the monotonic clock went back (source " + view.source + ")",
                  "boot with another clocksource, such as clocksource=hpet, and tell the vendor");
  }
  const bool slow = view.source == "hpet" || view.source == "acpi_pm" || view.source == "jiffies";
  if (slow) {
    return warning(kName,
                   "the clock source is " + view.source + ", which takes microseconds a read",
                   "see why the kernel gave up tsc: dmesg | grep -i tsc");
  }
  return ok(kName, view.source.empty() ? "monotonic" : "monotonic, source " + view.source);
}

Finding judge_files(const LimitsView& view, const Needs& needs) {
  constexpr const char* kName = "limits.files";
  const std::string found =
      fmt::format("{} allowed, the settings may come to {}", view.files, needs.files.total());
  if (view.files >= needs.files.total()) return ok(kName, found);
  const Result<FileShares> shares = share_files(needs.files, view.files);
  if (!shares) return failed(kName, shares.error().what, more_files(needs.files));
  std::string lowered = fmt::format(
      "{}: {} are kept for the store and the daemon, which lowers "
      "http.connections-max to {}",
      found, shares->reserved, shares->http);
  if (shares->resp != 0) lowered += fmt::format(" and resp.connections-max to {}", shares->resp);
  return warning(kName, lowered, more_files(needs.files));
}

Finding judge_memory(const LimitsView& view, const Needs& needs) {
  const std::string found = fmt::format("{} MiB there, the settings may come to {} MiB",
                                        view.memory_bytes / kMiB, needs.memory_bytes / kMiB);
  return graded("limits.memory", needs.memory_bytes > view.memory_bytes,
                needs.memory_bytes > view.memory_bytes / 5 * 4, found,
                "lower memory.max, store.embedded.cache-bytes or throttle.max-keys, or give the "
                "machine more");
}

Finding judge_backlog(const LimitsView& view) {
  constexpr const char* kName = "limits.backlog";
  if (view.backlog == 0) return skipped(kName, "net.core.somaxconn cannot be read");
  const std::string found = fmt::format("net.core.somaxconn {}", view.backlog);
  if (view.backlog >= kBacklog) return ok(kName, found);
  return warning(kName, found + ": a burst of clients is turned away",
                 fmt::format("sysctl -w net.core.somaxconn={}", kBacklog));
}

Finding judge_random(const LimitsView& view) {
  if (view.random) return ok("limits.random", "the kernel's random numbers are ready");
  return failed("limits.random", "the kernel has no random numbers yet",
                "wait until it is up, or give the virtual machine a virtio-rng");
}

constexpr const char* kSettings = "config.settings";
constexpr const char* kSecrets = "config.secrets";

bool is_private_key(std::string_view key) { return key.ends_with("tls.key-file"); }

bool is_secret(const Key& key) { return key.secret != nullptr || is_private_key(key.path()); }

}  // namespace

Findings judge_clock(const ClockView& view) {
  return {judge_wall(view), judge_ntp(view), judge_steady(view)};
}

Needs needs_of(const Config& config) noexcept {
  Needs needs{.files = file_needs_of(config), .memory_bytes = kBaseBytes};
  const bool own_limits = config.throttle.store == StoreChoice::embedded;
  if (needs.files.folder) needs.memory_bytes += config.embedded.cache_bytes + kWriteBufferBytes;
  const std::uint64_t keys = config.throttle.max_keys;
  needs.memory_bytes += (own_limits ? keys : std::min(keys, kLocalKeysMax)) * kKeyBytes;
  needs.memory_bytes += config.memory_max;
  return needs;
}

Findings judge_limits(const LimitsView& view, const Needs& needs) {
  return {judge_files(view, needs), judge_memory(view, needs), judge_backlog(view),
          judge_random(view)};
}

Findings check_clock(const runtime::Deadline& /*deadline*/) {
  timex state{};
  const int kernel = ::adjtimex(&state);
  ClockView view{
      .wall = runtime::SystemClock().now(),
      .went_back = steady_clock_goes_back(),
      .source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource")};
  if (kernel >= 0) {
    view.synchronised = kernel != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
    view.error_max = Micros{state.maxerror};
  }
  return judge_clock(view);
}

Findings check_limits(const Config& config, const runtime::Deadline& /*deadline*/) {
  LimitsView view;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) view.files = files.rlim_max;
  view.memory_bytes = runtime::machine_memory_bytes();
  view.backlog = number_of(first_line("/proc/sys/net/core/somaxconn")).value_or(0);
  char byte = 0;
  view.random = ::getrandom(&byte, 1, GRND_NONBLOCK) == 1;
  return judge_limits(view, needs_of(config));
}

Findings judge_settings(const std::string& file, const Loaded& loaded) {
  const std::string check =
      "penstock check-config" + (file.empty() ? std::string() : " --config " + file);
  Findings findings;
  if (!loaded) {
    for (const std::string& problem : loaded.error()) {
      findings.push_back(failed(kSettings, problem, "correct it, then run: " + check));
    }
    return findings;
  }
  findings.push_back(
      ok(kSettings,
         fmt::format("{}: {} setting{} differ from the defaults", file.empty() ? "no file" : file,
                     loaded->changed.size(), loaded->changed.size() == 1 ? "" : "s")));
  for (const std::string& text : loaded->warnings) {
    findings.push_back(warning("config.warning", text, "change it, then run: " + check));
  }
  return findings;
}

Findings judge_secret_mode(std::string_view key, const std::string& file, mode_t mode, bool told) {
  Findings findings;
  if (!S_ISREG(mode)) return findings;  // a pipe or a device has no secret lying in it
  if ((mode & S_IROTH) != 0 && !told) {
    findings.push_back(warning(kSecrets,
                               fmt::format("{}: everyone on this machine can read {}", key, file),
                               "chmod o-r " + file));
  }
  if ((mode & (S_IWGRP | S_IWOTH)) != 0) {
    findings.push_back(warning(kSecrets,
                               fmt::format("{}: others than its owner can replace {}", key, file),
                               "chmod go-w " + file));
  }
  return findings;
}

Findings check_config(const std::string& file, const Loaded& loaded) {
  Findings findings = judge_settings(file, loaded);
  if (!loaded) return findings;
  std::size_t files = 0;
  Findings modes;
  for (const Setting& setting : loaded->changed) {
    const auto* const path = std::get_if<std::string>(&setting.value);
    if (path == nullptr || !is_secret(*setting.key)) continue;
    struct stat status{};
    if (::stat(path->c_str(), &status) != 0) continue;  // the settings say so themselves
    ++files;
    append(modes, judge_secret_mode(setting.key->path(), *path, status.st_mode,
                                    !is_private_key(setting.key->path())));
  }
  if (files > 0 && modes.empty()) {
    modes.push_back(ok(kSecrets, fmt::format("{} file{} that only the owner can replace", files,
                                             files == 1 ? "" : "s")));
  }
  append(findings, std::move(modes));
  return findings;
}

}  // namespace penstock::daemon::doctor
