// For tests: the ends of what chance can say.
#pragma once

#include <cstdint>

namespace penstock::core {

inline constexpr std::uint64_t kLowest = 0;
inline constexpr std::uint64_t kHighest = ~std::uint64_t{0};

}  // namespace penstock::core
