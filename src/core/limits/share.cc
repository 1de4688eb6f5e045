#include "core/limits/share.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace penstock::core {
namespace {

// Beyond this a part's rate would leave the range that the arithmetic is exact in (state.h); it is
// rounded down to the slowest rate there is.
constexpr std::int64_t kMicrosMax = 1'000'000'000'000'000;

}  // namespace

Limit share_of(const Limit& limit, std::size_t nodes) noexcept {
  if (nodes <= 1) return limit;
  const auto parts = static_cast<std::int64_t>(std::min<std::size_t>(nodes, 1'000'000));
  Limit share = limit;
  share.capacity = std::max<std::int64_t>(limit.capacity / parts, 1);
  if (!is_bucket(limit.type)) return share;
  const std::int64_t common = std::gcd(limit.refill.tokens, parts);
  share.refill.tokens = limit.refill.tokens / common;
  const std::int64_t slower = parts / common;
  if (limit.refill.micros > kMicrosMax / slower) {
    // Fewer tokens in the same time instead of the same in more, rounded down but not to nothing.
    share.refill = {.tokens = std::max<std::int64_t>(share.refill.tokens / slower, 1),
                    .micros = limit.refill.micros};
    return share;
  }
  share.refill.micros = limit.refill.micros * slower;
  const std::int64_t terms = std::gcd(share.refill.tokens, share.refill.micros);
  share.refill = {.tokens = share.refill.tokens / terms, .micros = share.refill.micros / terms};
  return share;
}

}  // namespace penstock::core
