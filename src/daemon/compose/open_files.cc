#include "daemon/compose/open_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace penstock::daemon {
namespace {

// Standard streams, the folder's lock, listeners, timers, name servers, what libraries open: an
// idle daemon has about 30 beside its event loops.
constexpr std::uint64_t kOwnFiles = 48;
constexpr std::uint64_t kFilesPerHttpThread = 3;
constexpr std::uint64_t kFilesPerRespThread = 2;

struct Share {
  std::uint64_t least;
  std::uint64_t most;
  std::uint64_t part;  // of all that is allowed: one in so many

  std::uint64_t of(std::uint64_t allowed) const noexcept {
    return std::clamp(allowed / part, least, most);
  }
};
// Connections of sinks and of Kafka.
constexpr Share kSinks{.least = 32, .most = 128, .part = 8};
// Tables that stay open; the store opens the rest when it is asked for them.
constexpr Share kTables{.least = 64, .most = 512, .part = 4};
// Its logs, and tables that a compaction reads and writes beyond those.
constexpr std::uint64_t kStoreLogs = 32;
constexpr Share kRefusals{.least = 8, .most = 256, .part = 32};

constexpr std::uint64_t kConnectionsMin = 32;
constexpr std::uint64_t kUsualLimit = 65'536;  // deploy/systemd/penstock.service

std::uint64_t reserve(const FileNeeds& needs, std::uint64_t allowed) noexcept {
  const std::uint64_t store = needs.folder ? kTables.of(allowed) + kStoreLogs : 0;
  return needs.own + kSinks.of(allowed) + store + kRefusals.of(allowed);
}

}  // namespace

std::uint64_t FileNeeds::total() const noexcept { return reserve(*this, UINT64_MAX) + http + resp; }

FileNeeds file_needs_of(const Config& config) noexcept {
  const std::uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const auto or_usual = [](std::uint64_t threads, std::uint64_t usual) {
    return threads == 0 ? usual : threads;
  };
  FileNeeds needs{
      .own = kOwnFiles + kFilesPerHttpThread * or_usual(config.http.threads, cores) +
             kFilesPerRespThread * or_usual(config.resp.threads, std::max<std::uint64_t>(2, cores)),
      .http = config.http.limits.connections,
      .resp = config.resp.address.empty() ? 0 : config.resp.limits.connections};
  if (!config.postgres.url.empty()) needs.own += 2 * config.postgres.connections + 3;
  if (!config.mariadb.url.empty()) needs.own += 2 * config.mariadb.connections;
  if (!config.redis.url.empty()) needs.own += 2 * config.redis.connections;
  needs.folder = config.throttle.store == StoreChoice::embedded ||
                 config.slots.store == StoreChoice::embedded ||
                 config.dispatch.store == StoreChoice::embedded;
  return needs;
}

Result<FileShares> share_files(const FileNeeds& needs, std::uint64_t allowed) {
  if (allowed >= needs.total()) {
    return FileShares{.reserved = reserve(needs, UINT64_MAX),
                      .tables = kTables.most,
                      .refusals = kRefusals.most,
                      .http = needs.http,
                      .resp = needs.resp};
  }
  const std::uint64_t reserved = reserve(needs, allowed);
  const std::uint64_t asked = needs.http + needs.resp;
  const std::uint64_t least = std::min(kConnectionsMin, asked);
  if (allowed < reserved + least) {
    return fail(ErrorKind::invalid,
                fmt::format("{} open files are allowed, and the daemon needs {} for its store and "
                            "itself and {} for connections: {}",
                            allowed, reserved, least, more_files(needs)));
  }
  const std::uint64_t room = std::min(allowed - reserved, asked);
  // Each front keeps its part; a front that is served has at least one.
  const auto part = [&](std::uint64_t wanted) -> std::size_t {
    if (wanted == 0) return 0;
    return std::max<std::uint64_t>(1, room * wanted / asked);
  };
  return FileShares{.reserved = reserved,
                    .tables = kTables.of(allowed),
                    .refusals = kRefusals.of(allowed),
                    .http = part(needs.http),
                    .resp = part(needs.resp)};
}

void apply(const FileShares& shares, Config& config) noexcept {
  config.embedded.tables_open = shares.tables;
  config.http.limits.refusals = shares.refusals;
  config.http.limits.connections = shares.http;
  if (shares.resp != 0) config.resp.limits.connections = shares.resp;
}

std::string more_files(const FileNeeds& needs) {
  const std::uint64_t enough = std::max(needs.total(), kUsualLimit);
  return fmt::format("LimitNOFILE={} in the service, or ulimit -n {}", enough, enough);
}

}  // namespace penstock::daemon
