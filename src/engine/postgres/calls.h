// What the ports of this room do with a connection: take one, send, give it back. Thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"
#include "engine/postgres/pool.h"

namespace penstock::store::postgres {

inline DatabaseResult<std::vector<Rows>> run_calls(Pool& pool, std::span<const Call> calls,
                                                   const runtime::Deadline& deadline) {
  auto lease = pool.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error()));
  return (*lease)->run(calls, deadline);
}

inline Result<Rows> run_call(Pool& pool, const Call& call, const runtime::Deadline& deadline) {
  auto answers = run_calls(pool, {&call, 1}, deadline);
  if (!answers) return std::unexpected(std::move(answers.error().error));
  return std::move(answers->front());
}

inline std::int64_t epoch_us(Instant instant) { return instant.time_since_epoch().count(); }
inline std::optional<std::int64_t> epoch_us(std::optional<Instant> instant) {
  return instant ? std::optional(epoch_us(*instant)) : std::nullopt;
}
inline Instant from_epoch_us(std::int64_t count) { return Instant{Micros{count}}; }

inline std::int64_t int8_of(std::size_t number) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(number, kMost));
}

}  // namespace penstock::store::postgres
