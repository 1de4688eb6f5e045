// Decides parts in their order, each atomically: the usual ones by the script, the others by the
// core with a compare-and-set. Safe on any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/redis/client.h"
#include "runtime/clocks.h"
#include "store/limits/redis/plan.h"

namespace penstock::store::redis {

class Decider {
 public:
  // `client` outlives this.
  Decider(Client& client, std::string prefix) : client_(client), prefix_(std::move(prefix)) {}

  // Keys have from 1 to 512 bytes; in a cluster those of each part lie in one slot.
  void run(std::span<Part> parts, std::optional<Instant> now, const runtime::Deadline& deadline);

  std::string name_of(std::string_view key) const { return prefix_ + std::string(key); }

 private:
  struct Unit;

  void by_script(std::span<Part> parts, const Plan& plan, std::optional<Instant> now,
                 const runtime::Deadline& deadline, std::vector<std::size_t>& back);
  void by_core(std::span<Part> parts, std::span<const std::size_t> indexes,
               std::optional<Instant> now, const runtime::Deadline& deadline);
  std::vector<Unit> units_of(std::span<const Part> parts, std::span<const std::size_t> indexes);
  bool read_all(std::span<Unit> units, std::optional<Instant> now,
                const runtime::Deadline& deadline);
  void swap_all(std::span<Unit> units, std::span<Part> parts, const runtime::Deadline& deadline);

  Client& client_;
  const std::string prefix_;
};

// A key outlives its usage by this much, so that a charge on the brink finds it. With a given now,
// which may stand still while the server's clock goes on, by a minute.
inline constexpr Millis kGrace{1'000};
inline constexpr Millis kGraceGiven{60'000};

}  // namespace penstock::store::redis
