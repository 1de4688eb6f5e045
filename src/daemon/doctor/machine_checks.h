// The machine: its clock, and what it lets a process have. The judgements are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "daemon/open_files.h"
#include "runtime/deadline.h"

namespace penstock::daemon::doctor {

struct ClockView {
  Instant wall{};
  // By adjtimex(): whether the kernel takes the clock for synchronised, and by how much it may be
  // off. None: it may not be asked.
  std::optional<bool> synchronised;
  Micros error_max{0};
  bool went_back = false;  // the steady clock did, in many reads
  std::string source;      // the kernel's clock source
};
Findings judge_clock(const ClockView& view);

struct LimitsView {
  std::uint64_t files = 0;         // hard limit of open files, which the daemon raises itself to
  std::uint64_t memory_bytes = 0;  // of the machine, or of the control group if that is less
  std::uint64_t backlog = 0;       // net.core.somaxconn; 0 = not known
  bool random = true;              // the kernel's generator is ready
};
// What the settings may come to.
struct Needs {
  FileNeeds files;
  std::uint64_t memory_bytes = 0;
};
Needs needs_of(const Config& config) noexcept;
Findings judge_limits(const LimitsView& view, const Needs& needs);

Findings check_clock(const runtime::Deadline& deadline);
Findings check_limits(const Config& config, const runtime::Deadline& deadline);

}  // namespace penstock::daemon::doctor
