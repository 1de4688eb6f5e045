#include "daemon/doctor/runner.h"

#include <fmt/format.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "runtime/thread_name.h"

namespace penstock::daemon::doctor {
namespace {

// Shared with the threads, which may outlive the run.
struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::optional<Findings>> findings;  // guarded by mutex
};

Finding too_late(const std::string& area, Millis limit) {
  return failed(area,
                fmt::format("no answer within {} s", static_cast<double>(limit.count()) / 1e3),
                "see whether the network drops packets to it, or allow more by --timeout");
}

}  // namespace

RunResult run_areas(std::vector<Area> areas, Millis limit, Millis grace) {
  const auto board = std::make_shared<Board>();
  board->findings.resize(areas.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < areas.size(); ++i) {
    names.push_back(areas[i].name);
    std::thread([board, i, limit, area = std::move(areas[i])] {
      runtime::set_thread_name("doctor");
      Findings findings = area.check(runtime::Deadline(limit));
      const std::lock_guard lock(board->mutex);
      board->findings[i] = std::move(findings);
      board->changed.notify_all();
    }).detach();
  }
  const runtime::Deadline deadline(limit + grace);
  RunResult result;
  std::unique_lock lock(board->mutex);
  for (std::size_t i = 0; i < names.size(); ++i) {
    board->changed.wait_for(lock, std::chrono::milliseconds(deadline.remaining().count()),
                            [&] { return board->findings[i].has_value(); });
    if (!board->findings[i]) {
      result.left_running = true;
      result.findings.push_back(too_late(names[i], limit));
      continue;
    }
    for (Finding& finding : *board->findings[i]) result.findings.push_back(std::move(finding));
  }
  return result;
}

}  // namespace penstock::daemon::doctor
