#include "runtime/memory_budget.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "base/check.h"

namespace penstock::runtime {

bool Charge::try_resize(std::size_t bytes) noexcept {
  if (bytes > bytes_) {
    PENSTOCK_CHECK(budget_ != nullptr);
    if (!budget_->try_add(bytes - bytes_, bytes <= MemoryBudget::kSmallBytes)) return false;
    bytes_ = bytes;
    return true;
  }
  force(bytes);
  return true;
}

void Charge::force(std::size_t bytes) noexcept {
  if (bytes == bytes_) return;
  PENSTOCK_CHECK(budget_ != nullptr);
  if (bytes > bytes_) {
    budget_->add(bytes - bytes_);
  } else {
    budget_->subtract(bytes_ - bytes);
  }
  bytes_ = bytes;
}

MemoryBudget::MemoryBudget(std::size_t max_bytes, Metrics& metrics)
    : max_(max_bytes),
      large_max_(max_bytes - max_bytes / kSmallShare),
      refusals_(metrics.counter("penstock_memory_refusals_total",
                                "Times that work found no room in the memory budget")) {
  constexpr const char* kName = "penstock_memory_budget_bytes";
  constexpr const char* kHelp = "Memory for work under way: what there may be, and what there is";
  metrics.gauge_function(kName, kHelp, [this] { return static_cast<double>(max_); },
                         {{"state", "max"}});
  metrics.gauge_function(kName, kHelp, [this] { return static_cast<double>(used()); },
                         {{"state", "used"}});
}

std::optional<Charge> MemoryBudget::try_take(std::size_t bytes) noexcept {
  Charge charge(*this);
  if (!charge.try_resize(bytes)) return std::nullopt;
  return charge;
}

std::size_t MemoryBudget::available() const noexcept {
  const std::size_t now = used();
  return now < large_max_ ? large_max_ - now : 0;
}

bool MemoryBudget::has_room(std::size_t bytes) noexcept {
  const std::size_t most = limit(bytes <= kSmallBytes);
  const std::size_t now = used();
  if (now <= most && bytes <= most - now) return true;
  refusals_.add();
  return false;
}

bool MemoryBudget::try_add(std::size_t bytes, bool small) noexcept {
  const std::size_t most = limit(small);
  std::size_t now = used();
  do {
    if (now > most || bytes > most - now) {
      refusals_.add();
      return false;
    }
  } while (!used_.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  return true;
}

std::optional<std::uint64_t> parse_memory_max(const std::string& text) {
  std::uint64_t bytes = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), bytes);
  // Version 1 says "no limit" by a number near the largest.
  if (read.ec != std::errc{} || bytes > (std::uint64_t{1} << 60)) return std::nullopt;
  return bytes;
}

std::uint64_t machine_memory_bytes() {
  std::uint64_t bytes = 0;
  struct sysinfo memory{};
  if (::sysinfo(&memory) == 0) bytes = std::uint64_t{memory.totalram} * memory.mem_unit;
  for (const char* file :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    if (const auto limit = parse_memory_max(line)) bytes = std::min(bytes, *limit);
  }
  return bytes;
}

std::size_t default_memory_budget(std::uint64_t machine_bytes) noexcept {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  return static_cast<std::size_t>(std::min(machine_bytes / 4, kMost));
}

}  // namespace penstock::runtime
