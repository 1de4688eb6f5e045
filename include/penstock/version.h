// The version of these headers, and of the library that is linked.
#pragma once

#include <penstock/export.h>

#define PENSTOCK_VERSION_MAJOR 0
#define PENSTOCK_VERSION_MINOR 1
#define PENSTOCK_VERSION_PATCH 0

namespace penstock {
// All public names live in an inline namespace that carries the version of the binary interface:
// two of them can be in one process, and a mismatch fails at the linker and not at run time.
inline namespace v0 {

// Of the library, "0.1.0".
PENSTOCK_API const char* version() noexcept;

}  // namespace v0
}  // namespace penstock
