// How many threads answer reads, and how many reads may wait for them: the same in every service.
#pragma once

#include <cstddef>

namespace penstock::service {

inline constexpr std::size_t kReaderThreads = 2;
inline constexpr std::size_t kReadsMax = 4'096;  // under a second of work

}  // namespace penstock::service
