// Judgements that all servers share: their clocks, schemas and connections. Pure.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "daemon/doctor/finding.h"

namespace penstock::daemon::doctor {

// Due times are compared across machines: beyond the first people notice, beyond the second nothing
// that is said of time is true.
inline constexpr Millis kSkewNoticed{500};
inline constexpr Millis kSkewWrong = std::chrono::minutes{1};

// `asked` is our time half way between question and answer, `round_trip` what both took: a skew
// within half of it is none.
inline Finding judge_skew(std::string name, Instant server, Instant asked, Micros round_trip) {
  const Micros skew = server - asked;
  const Micros certain = std::max(Micros{0}, std::chrono::abs(skew) - round_trip / 2);
  const std::string found = fmt::format("{:.3f} s {} this machine's clock",
                                        static_cast<double>(std::chrono::abs(skew).count()) / 1e6,
                                        skew >= Micros{0} ? "ahead of" : "behind");
  if (certain < kSkewNoticed) return ok(std::move(name), found);
  const std::string fix = "synchronise both machines by NTP: timedatectl set-ntp true";
  if (certain < kSkewWrong) return warning(std::move(name), found, fix);
  return failed(std::move(name), found, fix);
}

// `found` 0 = there is none. `nothing` says so, `owner` who may migrate.
inline Finding judge_version(std::string name, std::int64_t found, std::int64_t known,
                             std::string_view nothing, std::string_view owner) {
  if (found == known) return ok(std::move(name), fmt::format("version {}", known));
  const std::string both = fmt::format("version {}, this program needs {}", found, known);
  if (found > known) {
    return failed(std::move(name), both, "run the newer penstock that made it, on this node too");
  }
  return failed(std::move(name), found == 0 ? std::string(nothing) : both,
                fmt::format("as the {} run: penstock migrate", owner));
}

// `needed` = that a node opens at most. `key` is the setting that lowers it.
inline Finding judge_room(std::string name, std::int64_t used, std::int64_t max,
                          std::int64_t needed, std::string_view key) {
  const std::string found =
      fmt::format("{} of {} in use, a node opens up to {}", used, max, needed);
  const std::string fix = fmt::format("raise max_connections, or lower {}", key);
  if (max < needed) return failed(std::move(name), found, fix);
  if (max - used < needed) return warning(std::move(name), found, fix);
  return ok(std::move(name), found);
}

}  // namespace penstock::daemon::doctor
