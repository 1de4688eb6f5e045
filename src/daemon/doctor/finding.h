// What one check found. Plain data; the judgements in this folder make them from what was seen, so
// that they can be tested without servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace penstock::daemon::doctor {

inline constexpr std::uint64_t kMiB = 1024 * 1024;

enum class Status : std::uint8_t { ok, warning, failed, skipped };

struct Finding {
  std::string name;  // "postgres.schema": area, dot, check
  Status status = Status::ok;
  std::string found;  // what is there, for people
  std::string fix;    // what to do, one sentence; empty when nothing is to be done

  friend bool operator==(const Finding&, const Finding&) = default;
};
using Findings = std::vector<Finding>;

inline Finding ok(std::string name, std::string found) {
  return {.name = std::move(name), .status = Status::ok, .found = std::move(found), .fix = {}};
}
inline Finding warning(std::string name, std::string found, std::string fix) {
  return {.name = std::move(name),
          .status = Status::warning,
          .found = std::move(found),
          .fix = std::move(fix)};
}
inline Finding failed(std::string name, std::string found, std::string fix) {
  return {.name = std::move(name),
          .status = Status::failed,
          .found = std::move(found),
          .fix = std::move(fix)};
}
inline Finding skipped(std::string name, std::string why) {
  return {.name = std::move(name), .status = Status::skipped, .found = std::move(why), .fix = {}};
}

struct Counts {
  std::size_t ok = 0;
  std::size_t warnings = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
};
Counts count(const Findings& findings) noexcept;

}  // namespace penstock::daemon::doctor
