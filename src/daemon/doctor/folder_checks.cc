#include "daemon/doctor/folder_checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "daemon/doctor/listen_checks.h"
#include "engine/rocksdb/format.h"

namespace penstock::daemon::doctor {
namespace {

// Opening alone may write 37 MiB (engine/rocksdb/disk_space.cc).
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
  constexpr const char* kName = "folder.space";
  const std::string found = fmt::format("{} MiB free for {}", disk.free_bytes / kMiB, folder);
  const std::string fix =
      "free space on its disk (slots.retention.keep, penstock slots prune), or "
      "set another data-dir";
  if (disk.free_bytes < kFreeBytesMin) return failed(kName, found, fix);
  if (disk.free_bytes < kFreeBytesLow) return warning(kName, found, fix);
  return ok(kName, found);
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
  std::ranges::move(judge_folder(folder, store::embedded::inspect_folder(config.data_dir),
                                 store::embedded::kSchemaVersion, is_http_free(config)),
                    std::back_inserter(findings));
  if (std::filesystem::exists(config.data_dir / "CURRENT", ignored)) {
    findings.push_back(judge_data(
        folder, store::embedded::verify_folder(
                    config.data_dir, [&](const auto&) { return deadline.remaining() > kReport; })));
  }
  return findings;
}

}  // namespace penstock::daemon::doctor
