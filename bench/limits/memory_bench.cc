// Bytes per key of 32 bytes, all in: what the process grew by, as the kernel counts it. Each size
// in a process of its own, so that no freed memory of one helps the next.
// Usage: bench_limits_memory KEYS
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/check.h"
#include "runtime/clocks.h"
#include "store/limits/memory/memory_limits.h"

namespace {

using namespace penstock;

std::size_t resident_bytes() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const core::Limit limit{.capacity = 100, .refill = {1, 100'000}, .window = Seconds{60}};
  const SimulatedClock clock(from_epoch_millis(1'750'000'000'000));
  const std::size_t resident = resident_bytes();
  const std::size_t allocated = allocated_bytes();
  store::memory::MemoryLimits limits({.max_keys = std::max<std::size_t>(keys, 2'000'000)}, clock);
  std::array<char, 64> key{};
  core::LimitStatus status;
  std::array<Result<store::LimitAnswer>, 1> answers = {store::LimitAnswer{}};
  for (std::size_t i = 0; i < keys; ++i) {
    std::snprintf(key.data(), key.size(), "tenant:4711|user:%015zu", i % 1000000000);
    const store::LimitCheck check{.key = {key.data(), 32}, .limit = limit};
    const store::LimitRequest request{.checks = {&check, 1}, .cost = 1, .statuses = {&status, 1}};
    limits.apply({&request, 1}, std::nullopt, answers);
    PENSTOCK_CHECK(status.admitted);
  }
  const store::memory::MemoryUse use = limits.memory_use();
  PENSTOCK_CHECK(use.keys == keys);
  const auto per_key = [&](std::size_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(keys);
  };
  const double grown = per_key(resident_bytes() - resident);
  std::printf(
      "%zu keys of 32 bytes: %.1f bytes each resident, %.1f allocated, %.1f by its own count\n",
      keys, grown, per_key(allocated_bytes() - allocated), per_key(use.bytes));
  std::printf("ratio limits.bytes_per_key_%zum %.2f goal 1.00\n", keys / 1'000'000, 120 / grown);
  return 0;
}
