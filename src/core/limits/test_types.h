// For tests: every kind of limit.
#pragma once

#include <array>

#include "core/limits/limit.h"

namespace penstock::core {

inline constexpr std::array kAllTypes = {
    LimitType::token_bucket, LimitType::gcra, LimitType::sliding_window,
    LimitType::sliding_window_counter, LimitType::fixed_window};

}  // namespace penstock::core
