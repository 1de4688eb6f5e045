// Which commit this program was built from. Safe on any thread.
#pragma once

#include <string_view>

namespace penstock::daemon {

// Its first seven digits, and "-dirty" when files were changed; empty when it was not built from a
// repository. cmake/BuildCommit.cmake writes the source.
std::string_view build_commit() noexcept;

}  // namespace penstock::daemon
