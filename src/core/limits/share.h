// One node's part of a limit that several nodes keep without asking each other. Pure.
#pragma once

#include <cstddef>

#include "core/limits/limit.h"

namespace penstock::core {

// A part of 1 / `nodes` (at least 1) in capacity and rate, so that all parts together are never
// more than the limit, but for one exception: a part has room for at least one token.
Limit share_of(const Limit& limit, std::size_t nodes) noexcept;

}  // namespace penstock::core
