// Finds the best of the compiled policy keys for the key of a request. Pure; safe on any thread.
//
// One descent through the trunk settles exact keys and patterns `literals*`, which is all that most
// sets have. Each star met on the way that has more behind it then costs one descent from the end
// of the key for its tails, and one from every byte for its middles. A star behind a middle counts
// from the first place where it is met, once: so no pattern can make a search backtrack, and the
// work is at most bytes of the key times bytes of the patterns that share no beginning.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/policy/pattern_tables.h"

namespace penstock::core {

// The rank of the key itself if it is among the exact ones, else the smallest of the patterns that
// match it; kNoPattern if there is none.
std::uint32_t best_rank(const PatternTables& tables, std::string_view key);

// The same among those whose bit in `removed` is not set; one bit for each rank.
using RankBits = std::vector<std::uint64_t>;
std::uint32_t best_rank(const PatternTables& tables, std::string_view key, const RankBits& removed);

}  // namespace penstock::core
