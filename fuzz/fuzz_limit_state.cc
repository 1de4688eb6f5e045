// core/limits/state: any bytes give a state or `corrupt`; a state that was read is written
// and read again to the same bytes, and the algorithms cope with it: nothing overflows, nothing is
// minted.
//
// The first 16 bytes choose a limit, a cost and an instant, the rest is what was saved.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/rng.h"
#include "core/limits/decide.h"
#include "core/limits/limit.h"
#include "core/limits/state.h"

namespace {

using namespace penstock;
using namespace penstock::core;

std::string encoded(const LimitState& state) {
  std::string bytes;
  encode_state(state, bytes);
  return bytes;
}

Limit random_limit(Rng& rng, LimitType type) {
  Rate rate{.tokens = rng.between(1, 1'000), .micros = rng.between(1, 100'000'000)};
  rate = parse_rate(std::to_string(rng.between(1, 1'000'000)) + ".25").value_or(rate);
  return {.type = type,
          .capacity = rng.between(1, rng.below(2) == 0 ? 100 : kCapacityMax),
          .refill = rate,
          .window = Seconds{rng.between(1, 31'622'400)}};
}

void use(const Limit& limit, LimitState& state, std::int64_t cost, Instant now) {
  const LimitStatus foreseen = evaluate(limit, state, cost, now);
  const LimitStatus status = charge(limit, state, cost, now);
  PENSTOCK_CHECK(status.admitted == foreseen.admitted);
  PENSTOCK_CHECK(status.limit == limit.capacity);
  PENSTOCK_CHECK(status.remaining >= 0 && status.remaining <= limit.capacity);
  PENSTOCK_CHECK(status.retry_after >= kNever && status.reset_after >= Micros{0});
  if (cost <= 0) PENSTOCK_CHECK(status.admitted);
  if (cost > limit.capacity) PENSTOCK_CHECK(!status.admitted && status.retry_after == kNever);
  PENSTOCK_CHECK(used(state, now) >= 0 && window_count(state, now) >= 0);
  // What was charged can be saved, and says the same afterwards.
  const Result<LimitState> again = decode_state(encoded(state));
  if (again) PENSTOCK_CHECK(encoded(*again) == encoded(state));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t seed = 0;
  std::int64_t micros = 0;
  constexpr std::size_t kHead = sizeof seed + sizeof micros;
  if (size < kHead) return 0;
  std::memcpy(&seed, data, sizeof seed);
  std::memcpy(&micros, data + sizeof seed, sizeof micros);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  Result<LimitState> state = decode_state(bytes);
  if (!state) {
    PENSTOCK_CHECK(state.error().kind == ErrorKind::corrupt);
    return 0;
  }
  const std::string canonical = encoded(*state);
  PENSTOCK_CHECK(canonical.size() <= bytes.size());
  const Result<LimitState> again = decode_state(canonical);
  PENSTOCK_CHECK(again.has_value());
  PENSTOCK_CHECK(encoded(*again) == canonical);

  Rng rng(seed);
  // As the clock of a store would say it: some year that can be written.
  const std::int64_t end = kInstantEnd.time_since_epoch().count();
  Instant now{Micros{static_cast<std::int64_t>(static_cast<std::uint64_t>(micros) %
                                               static_cast<std::uint64_t>(end))}};
  bring_back(*state, now);
  idle(*state, now);
  for (int i = 0; i < 4; ++i) {
    const auto type = i < 2 ? state->type : static_cast<LimitType>(rng.below(5));
    use(random_limit(rng, type), *state, rng.between(-5, 20), now);
    now += Micros{rng.between(-1'000'000, 100'000'000)};
  }
  return 0;
}
